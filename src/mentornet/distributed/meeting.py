"""How the processes that `torchrun` starts find each other, also after a restart."""

from __future__ import annotations

import os
import secrets
import time
from datetime import timedelta
from typing import Any

import torch

from mentornet.errors import MentorNetError

__all__ = ["agent_store", "job", "meet", "patience", "world_size"]

_PATIENCE = "MENTORNET_PATIENCE"
_LOOK_EVERY = 0.05  # seconds between two looks into the store


def world_size() -> int:
    """Return how many processes `torchrun` has started for this training; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "LOCAL_WORLD_SIZE" in os.environ else 1


def job() -> str | None:
    """Return the id of this `torchrun` job, the same in all its restarts; None without it."""
    return os.environ.get("TORCHELASTIC_RUN_ID") if world_size() > 1 else None


def patience() -> float:
    """Return after how many silent seconds a process is lost: MENTORNET_PATIENCE, by default 30."""
    given = os.environ.get(_PATIENCE, "30")
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 86400:
        raise MentorNetError(f"{_PATIENCE} must be 1 to 86400 seconds, got {given!r}")
    return seconds


def agent_store() -> Any:
    """Return a new connection to the store that all processes share.

    The agent of `torchrun` keeps that store through all restarts.
    """
    agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    try:
        return torch._C._distributed_c10d.TCPStore(
            address, port, world_size(), is_master=not agent and os.environ["RANK"] == "0",
            timeout=timedelta(seconds=2 * patience()), multi_tenant=True,
        )  # fmt: skip
    except RuntimeError:
        raise MentorNetError(
            f"rank {os.environ['RANK']} cannot reach {address}:{port}, where the processes meet; "
            "does a firewall block it, or has torchrun ended there?"
        ) from None


def meet(store: Any, rank: int, world: int) -> str:
    """Wait for all processes of this start, and return a name for it that no other start has.

    The store still has entries of processes that have ended. So each process writes a token that
    was never used before, and rank 0 answers it with the name. (The agents' numbers of restarts
    cannot serve as a name: on several machines each agent counts by itself.)

    Args:
        store: the store that all processes share.
        rank: the rank of this process.
        world: the number of processes.
    """
    mine = secrets.token_hex(8)
    if rank == 0:
        _welcome(store, mine, world)
        return mine
    store.set(f"mentornet/hello/{rank}", mine)
    answer = f"mentornet/answer/{mine}"
    try:
        store.wait([answer], timedelta(seconds=2 * patience()))
    except RuntimeError:
        raise MentorNetError(
            f"rank {rank} has waited {2 * patience():g} seconds for rank 0, which did not answer"
        ) from None
    name = str(store.get(answer).decode())
    store.set(f"mentornet/{name}/{rank}", "here")
    return name


def _welcome(store: Any, name: str, world: int) -> None:
    """Answer the tokens of all other processes with the name, until all have confirmed it."""
    missing, deadline = list(range(1, world)), time.monotonic() + 2 * patience()
    while missing:
        for other in missing:
            hello = f"mentornet/hello/{other}"
            if store.check([hello]):  # if its writer has ended, a new token will come
                store.set(f"mentornet/answer/{store.get(hello).decode()}", name)
        missing = [other for other in missing if not store.check([f"mentornet/{name}/{other}"])]
        if missing and time.monotonic() > deadline:
            raise MentorNetError(
                f"rank 0 has waited {2 * patience():g} seconds for rank {missing[0]}, which did "
                "not answer"
            )
        time.sleep(_LOOK_EVERY)
