"""How the processes that `torchrun` has started find each other, at every start anew."""

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
_LOOK_EVERY = 0.05  # seconds


def world_size() -> int:
    """How many processes `torchrun` has started for this training; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "LOCAL_WORLD_SIZE" in os.environ else 1


def job() -> str | None:
    """What `torchrun` calls this job through all its restarts; None without it."""
    return os.environ.get("TORCHELASTIC_RUN_ID") if world_size() > 1 else None


def patience() -> float:
    """After how many seconds of silence a process is taken for lost: MENTORNET_PATIENCE, or 30."""
    given = os.environ.get(_PATIENCE, "30")
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 86400:
        raise MentorNetError(f"{_PATIENCE} must be 1 to 86400 seconds, got {given!r}")
    return seconds


def agent_store() -> Any:
    """A connection of our own to where the processes leave word for each other.

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
            "is there a firewall, or has torchrun ended there?"
        ) from None


def meet(store: Any, rank: int, world: int) -> str:
    """Come together with the processes of this very start, and return the name it goes by.

    In the store there is word of processes that are dead by now. So each process leaves a word
    that nobody has used before, and rank 0 answers it with the name. (Agents on several machines
    count restarts each for itself, so their counts are no such name.)

    Args:
        store: which all of them see.
        rank: ours.
        world: how many are to come.
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
            f"rank {rank} has waited {2 * patience():g} seconds for rank 0, which did not come"
        ) from None
    name = str(store.get(answer).decode())
    store.set(f"mentornet/{name}/{rank}", "here")
    return name


def _welcome(store: Any, name: str, world: int) -> None:
    """Answer whoever calls until all have heard it."""
    missing, deadline = list(range(1, world)), time.monotonic() + 2 * patience()
    while missing:
        for other in missing:
            hello = f"mentornet/hello/{other}"
            if store.check([hello]):  # perhaps of one that is dead; then it calls once more
                store.set(f"mentornet/answer/{store.get(hello).decode()}", name)
        missing = [other for other in missing if not store.check([f"mentornet/{name}/{other}"])]
        if missing and time.monotonic() > deadline:
            raise MentorNetError(
                f"rank 0 has waited {2 * patience():g} seconds for rank {missing[0]}, which did "
                "not come"
            )
        time.sleep(_LOOK_EVERY)
