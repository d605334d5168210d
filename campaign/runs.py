"""Runs that the campaign starts, kills and compares; a server forks them, so they start at once."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import sys
from dataclasses import dataclass
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from mentornet.cli import main
from mentornet.config import TrainConfig, write_config
from mentornet.methods import METHODS, make_method
from tests.training.runs import assert_same_outcome, small

__all__ = ["RunCase", "compare", "draw_run", "go_on", "leftovers", "server", "start", "whole"]

PATIENCE = 120.0
"""Seconds after which a run counts as hanging."""

_STUDENTS = ("small-cnn", "small-cnn", "tests.training.sharing:Smooth")


@dataclass(frozen=True)
class RunCase:
    """A small run: what is trained, by how many processes."""

    method: str
    student: str
    processes: int
    seed: int

    @property
    def name(self) -> str:
        """A name for folders."""
        student = self.student.rpartition(":")[2]
        return f"{self.method}-{student}-{self.processes}-{self.seed}"

    def config(self) -> TrainConfig:
        """The config; each epoch ends with a checkpoint."""
        width = {"width": 4 if self.student == "small-cnn" else None}
        return small(self.method, student=self.student, limit=128, seed=self.seed, **width)

    def words(self, home: Path, folder: Path) -> list[str]:
        """The arguments of `mentornet` that begin this run in a folder, or continue it."""
        if (folder / "config.toml").exists():
            trust = ["--trust-code"] if ":" in self.student and _asks_for_trust() else []
            return ["train", "--out", f"{folder}", "--resume", *trust]
        path = home / f"{self.name}.toml"
        write_config(path, self.config())
        trust = ["--trust-code"] if ":" in self.student and _asks_for_trust() else []
        return ["train", "--config", f"{path}", "--out", f"{folder}", *trust]


@cache
def _asks_for_trust() -> bool:
    from mentornet.cli.train import Train

    return "trust_code" in getattr(Train, "__dataclass_fields__", {})


def draw_run(rng: random.Random, processes: int | None = None) -> RunCase:
    """Draw a method, a student and a number of processes that go together."""
    count = rng.choice((1, 1, 1, 2)) if processes is None else processes
    methods = [name for name in METHODS if count == 1 or not make_method(name).needs.one_process]
    student = _STUDENTS[2] if count > 1 else rng.choice(_STUDENTS)
    method = rng.choice(methods)
    student = "small-cnn" if method == "forgetting" else student  # it needs dropout
    return RunCase(method, student, count, seed=0)


@cache
def server() -> Any:
    """The server that forks processes which have imported everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["campaign.runs", "lightning_fabric", "mentornet.cli.train", "mentornet.figures.curves"]
    )
    return context


def start(
    words: list[str], log: Path, *, processes: int = 1, fault: dict[str, Any] | None = None
) -> list[BaseProcess]:
    """Start a command in one or several processes; what they say goes to `log`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log.parent.mkdir(parents=True, exist_ok=True)
    started = []
    for rank in range(processes):
        ranks = {
            "RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": processes,
            "LOCAL_WORLD_SIZE": processes, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
        }  # fmt: skip
        env = {name: f"{value}" for name, value in ranks.items()} if processes > 1 else {}
        process = server().Process(target=_run, args=(words, f"{log}", env, fault or {}))
        process.start()
        started.append(process)
    return started


def _run(words: list[str], log: str, env: dict[str, str], fault: dict[str, Any]) -> None:
    """In the new process: run the command, with the fault that the disk shall have."""
    torch.set_num_threads(1)
    os.environ.update(env)
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(said, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    if "limit" in fault:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault["limit"], fault["limit"]))
    code = 1
    try:
        code = main(words)
        if env:
            from mentornet.distributed import Processes

            Processes.here().leave()
    finally:
        sys.stderr.flush()
    sys.exit(code)


def ended(
    processes: list[BaseProcess], seconds: float = PATIENCE, *, start: bool = False
) -> list[int | None]:
    """Wait for processes, after they are started; None for one that hangs, which is killed."""
    for process in processes if start else ():
        process.start()
    codes: list[int | None] = []
    for process in processes:
        process.join(seconds)
        hangs = process.is_alive()
        if hangs:
            process.kill()
            process.join()
        codes.append(None if hangs else process.exitcode)
    return codes


def go_on(case: RunCase, home: Path, folder: Path) -> str:
    """Begin or continue the run to its end; return what went wrong."""
    log = home / f"{folder.name}.log"
    log.unlink(missing_ok=True)
    codes = ended(start(case.words(home, folder), log, processes=case.processes))
    return "" if set(codes) == {0} else f"ended with {codes}: {log.read_text()[-300:]}"


def whole(case: RunCase, home: Path) -> Path:
    """The folder of the uninterrupted run, made once."""
    folder = home / "whole" / case.name
    if not (folder / "summary.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        fault = go_on(case, home, folder)
        if fault:
            raise RuntimeError(f"{case}: {fault}")
    return folder


def leftovers(folder: Path) -> list[str]:
    """The names of unfinished files in a run that has ended."""
    return [path.name for path in folder.rglob(".*") if path.is_file() and path.name != ".lock"]


def compare(case: RunCase, home: Path, folder: Path) -> str:
    """Say how a run that has ended differs from the uninterrupted one; nothing if it does not."""
    left = leftovers(folder)
    if left:
        return f"unfinished files are left: {left[:3]}"
    try:
        assert_same_outcome(whole(case, home), folder)
    except AssertionError as error:
        return f"the end differs: {error!s:.100}"
    return ""
