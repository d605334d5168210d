"""Processes that start at once, because torch is imported already.

A new Python takes seconds to import torch and Lightning. These processes are forked from one that
has imported them, and has done nothing else. What users start themselves, such as `torchrun`, has
tests that start it as users do.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import torch

from mentornet.cli import main


def forked() -> ForkServerContext:
    """As `multiprocessing.get_context("spawn")`, with the imports done."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "lightning_fabric",
            "mentornet.cli.train",
            "mentornet.experiments.engines",
            "mentornet.figures.curves",
            "tests.training.runs",
            "pytest",
        ]
    )
    return context


@dataclass(frozen=True)
class Started:
    """A process, and the file of what it writes to standard error."""

    process: ForkServerProcess
    log: Path

    def running(self) -> bool:
        return self.process.exitcode is None

    def end(self, seconds: float = 120) -> tuple[int, str]:
        """Wait for it; its exit code, and what it has said."""
        self.process.join(seconds)
        late = self.running()
        self.process.kill()
        self.process.join()
        told = self.log.read_text()
        assert not late, f"still running after {seconds} seconds: {told[-3000:]}"
        assert self.process.exitcode is not None
        return self.process.exitcode, told


def start(target: Callable[..., Any], *arguments: Any, log: Path, **environment: str) -> Started:
    """Call a function that can be imported in a process of its own.

    Args:
        target: the function.
        arguments: for it.
        log: the file for standard error.
        environment: further variables.
    """
    live = (target, arguments, f"{log}", environment)
    process = forked().Process(target=_live, args=live)
    process.start()
    return Started(process, log)


def _live(
    target: Callable[..., Any], arguments: tuple[Any, ...], log: str, environment: dict[str, str]
) -> None:
    os.environ.update(environment)
    with Path(log).open("wb") as file, Path(os.devnull).open("wb") as nowhere:
        os.dup2(file.fileno(), 2)
        os.dup2(nowhere.fileno(), 1)
    torch.set_num_threads(1)
    target(*arguments)


def start_ranks(
    folder: Path, *parts: tuple[Callable[..., Any], tuple[Any, ...]], **environment: str
) -> list[Started]:
    """One process for each part, which find each other as those of `torchrun` do, with no agent.

    Args:
        folder: for the logs.
        parts: what each process calls, and with which arguments.
        environment: further variables.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}", "WORLD_SIZE": f"{len(parts)}",
        "LOCAL_WORLD_SIZE": f"{len(parts)}", "GROUP_RANK": "0", "TORCHELASTIC_RUN_ID": "by-hand",
        **environment,
    }  # fmt: skip
    return [
        start(
            target, *arguments, log=folder / f"rank-{rank}.log",
            RANK=f"{rank}", LOCAL_RANK=f"{rank}", **shared,
        )
        for rank, (target, arguments) in enumerate(parts)
    ]  # fmt: skip


def run_ranks(
    folder: Path, target: Callable[..., Any], *arguments: Any, processes: int = 2
) -> list[tuple[int, str]]:
    """Call a function in each of several processes; the exit codes, and what each has said."""
    folder.mkdir(parents=True, exist_ok=True)
    running = start_ranks(folder, *[(target, arguments)] * processes)
    return [one.end() for one in running]


def mentornet(*words: str) -> None:
    """What `mentornet WORD …` does."""
    sys.exit(main(list(words)))
