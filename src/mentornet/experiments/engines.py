"""Who makes the runs: processes of this machine, or Ray's on many."""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import signal
import socket
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import torch

from mentornet.errors import MentorNetError
from mentornet.experiments.cells import Run
from mentornet.experiments.work import make_run

__all__ = ["Outcome", "run_locally", "run_on_ray"]


@dataclass(frozen=True)
class Outcome:
    """What came of a run: a result, or why there is none.

    Attributes:
        run: which.
        result: as `make_run` returns it.
        error: one line, where it failed.
    """

    run: Run
    result: dict[str, Any] | None = None
    error: str | None = None


def run_locally(runs: Iterable[Run], folder: Path, *, jobs: int) -> Iterator[Outcome]:
    """Every run in a process of its own, `jobs` at a time, as they finish.

    One that dies takes nothing with it. Where there are GPUs, those that run at the same time take
    turns with them.
    """
    waiting, gpus = list(runs), _gpus()
    context = multiprocessing.get_context("spawn")
    running: dict[Connection, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                ours, theirs = context.Pipe(duplex=False)
                run, place = waiting.pop(0), _free_place(running.values())
                gpu = gpus[place % len(gpus)] if gpus else None
                process = context.Process(  # no daemon: its images may have workers of their own
                    target=_work, args=(run, f"{folder}", theirs, os.getpid(), gpu)
                )
                process.start()
                theirs.close()
                running[ours] = _Running(process, run, place)
            yield from _finished(running)
    finally:
        for process, *_ in running.values():
            process.terminate()
        for process, *_ in running.values():
            process.join()


class _Running(NamedTuple):
    process: Any
    run: Run
    place: int


def _free_place(running: Iterable[_Running]) -> int:
    taken = {one.place for one in running}
    return next(place for place in itertools.count() if place not in taken)


def _gpus() -> list[str]:
    """The names of the GPUs that this process may use."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    count = torch.cuda.device_count()
    return allowed[:count] if allowed != [""] else [f"{number}" for number in range(count)]


def _finished(running: dict[Connection, _Running]) -> Iterator[Outcome]:
    for ready in wait(list(running)):
        assert isinstance(ready, Connection)
        process, run, _ = running.pop(ready)
        try:
            outcome = Outcome(run, *ready.recv())
        except (EOFError, OSError):
            process.join()
            outcome = Outcome(run, error=f"its process died ({_how(process.exitcode)})")
        process.join()
        ready.close()
        yield outcome


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return f"killed by {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"


def _work(run: Run, folder: str, report: Connection, parent: int, gpu: str | None) -> None:
    """The life of a process; an interruption is its parent's to deal with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    report.send(_attempt(run, folder, parent))
    report.close()


def _attempt(run: Run, folder: str, parent: int | None) -> tuple[dict[str, Any] | None, str | None]:
    try:
        return make_run(run, folder, parent=parent), None
    except (MentorNetError, OSError, MemoryError) as error:
        return None, f"{error}" or type(error).__name__
    except Exception as error:  # noqa: BLE001  one broken run must not stop the others
        return None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"


def _check_reachable(address: str | None) -> None:
    """Ray itself tries for minutes, and then ends the process."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # "auto", or a cluster of our own
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise MentorNetError(f"there is no Ray cluster at {address}: {error}") from None


def run_on_ray(
    runs: Iterable[Run], folder: Path, *, address: str | None = None, jobs: int | None = None
) -> Iterator[Outcome]:
    """Every run as a task of Ray, a core each and a GPU where the cluster has any, as they finish.

    A task whose worker or machine dies is started again, and goes on from the run's last
    checkpoint where `folder` is on a file system that the machines share.

    Args:
        runs: what to make.
        folder: of the experiment, as all machines see it.
        address: of the cluster; None for one on this machine, that ends with us.
        jobs: at a time, at most, on a cluster of our own.
    """
    try:
        import ray
    except ImportError:
        raise MentorNetError("--engine ray needs Ray: pip install 'mentornet[ray]'") from None
    ours = not ray.is_initialized()
    if ours:
        _check_reachable(address)
        try:
            ray.init(
                address=address or "local", num_cpus=jobs if address is None else None,
                include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
            )  # fmt: skip
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise MentorNetError(f"there is no Ray cluster at {address}: {error}") from None
    try:
        gpus = 1 if ray.cluster_resources().get("GPU", 0) >= 1 else 0
        task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=5)(_attempt)
        running = {task.remote(run, f"{folder.absolute()}", None): run for run in runs}
        while running:
            ready, _ = ray.wait(list(running), num_returns=1)
            run = running.pop(ready[0])
            try:
                yield Outcome(run, *ray.get(ready[0]))
            except ray.exceptions.RayError as error:
                yield Outcome(run, error=f"{type(error).__name__}: {error}".splitlines()[0])
    finally:
        if ours:
            ray.shutdown()
