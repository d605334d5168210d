"""Who makes the jobs of an experiment: processes of this machine, or Ray on many machines."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from mentornet.errors import MentorNetError
from mentornet.experiments.jobs import Job
from mentornet.experiments.order import Order
from mentornet.experiments.work import make_job

__all__ = ["Outcome", "run_locally", "run_on_ray"]

Make = Callable[..., dict[str, Any]]
"""Makes a job in a folder, as `make_job` does."""


@dataclass(frozen=True)
class Outcome:
    """What came of a job: a result, or the reason why there is none.

    Attributes:
        run: the job.
        result: as `make_job` returns it.
        error: why the job failed; its first line is enough for most readers.
    """

    run: Job
    result: dict[str, Any] | None = None
    error: str | None = None


@dataclass
class _Worker:
    """A process that makes one job after another, and the job that it makes now."""

    process: Any
    place: int
    job: Job | None = None


def run_locally(
    jobs: Iterable[Job], folder: Path, *, processes: int, make: Make = make_job
) -> Iterator[Outcome]:
    """Make every job, `processes` at a time, and yield the outcomes as they come.

    A process that dies takes only its own job with it, and the jobs that need it. Where there are
    GPUs, the processes take turns with them.

    Args:
        jobs: what to make.
        folder: of the experiment.
        processes: how many jobs at a time.
        make: what makes a job; a function that can be imported.
    """
    order, gpus = Order(jobs), _gpus()
    workers: dict[Connection, _Worker] = {}
    free = list(range(processes))
    try:
        while order.left or workers:
            while free and (job := order.take()) is not None:
                pipe, worker = _start(free.pop(0), gpus, folder, make)
                workers[pipe] = worker
                _hand_out(pipe, worker, job)
            for ready in wait(list(workers)):
                assert isinstance(ready, Connection)
                worker = workers[ready]
                outcome = _outcome(ready, worker)
                yield from _with_dependents(outcome, order)
                following = None if outcome.error is not None else order.take()
                if following is None:  # after a failure the next job gets a new process
                    _end(ready, workers.pop(ready))
                    free.append(worker.place)
                else:
                    _hand_out(ready, worker, following)
    finally:
        for worker in workers.values():
            worker.process.terminate()
        for worker in workers.values():
            worker.process.join()


def _start(place: int, gpus: list[str], folder: Path, make: Make) -> tuple[Connection, _Worker]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    gpu = gpus[place % len(gpus)] if gpus else None
    process = context.Process(  # no daemon: its images may have workers of their own
        target=_work, args=(theirs, f"{folder}", make, os.getpid(), gpu)
    )
    process.start()
    theirs.close()
    return ours, _Worker(process, place)


def _hand_out(pipe: Connection, worker: _Worker, job: Job) -> None:
    worker.job = job
    with suppress(OSError):  # it has died, which is seen when its answer is read
        pipe.send(job)


def _outcome(pipe: Connection, worker: _Worker) -> Outcome:
    """The answer of a process on the job that it made."""
    assert worker.job is not None
    try:
        return Outcome(worker.job, *pipe.recv())
    except (EOFError, OSError):
        worker.process.join()
        how = _how(worker.process.exitcode)
        return Outcome(worker.job, error=f"its process died ({how})")


def _with_dependents(outcome: Outcome, order: Order) -> Iterator[Outcome]:
    """An outcome, and those of the jobs that cannot be made if it is a failure."""
    yield outcome
    if outcome.error is None:
        order.made(outcome.run)
        return
    why = f"it needs {outcome.run.key}, which failed: {outcome.error.splitlines()[0]}"
    for job in order.failed(outcome.run):
        yield Outcome(job, error=why)


def _end(pipe: Connection, worker: _Worker) -> None:
    """Let a process go that has nothing more to do."""
    pipe.close()
    worker.process.join()


def _gpus() -> list[str]:
    """The names of the GPUs that this process may use."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    count = torch.cuda.device_count()
    return allowed[:count] if allowed != [""] else [f"{number}" for number in range(count)]


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return f"killed by {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"


def _work(pipe: Connection, folder: str, make: Make, parent: int, gpu: str | None) -> None:
    """The life of a process: it makes jobs until nobody hands it any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent deals with an interruption
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_attempt(pipe.recv(), folder, parent, make))


def _attempt(
    job: Job, folder: str, parent: int | None, make: Make = make_job
) -> tuple[dict[str, Any] | None, str | None]:
    try:
        return make(job, folder, parent=parent), None
    except (MentorNetError, OSError, MemoryError) as error:
        return None, f"{error}" or type(error).__name__
    except Exception as error:  # noqa: BLE001  one broken job must not stop the others
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
    jobs: Iterable[Job], folder: Path, *, address: str | None = None, processes: int | None = None
) -> Iterator[Outcome]:
    """Make every job as a task of Ray, and yield the outcomes as they come.

    A task takes a core, and a GPU where the cluster has any. A task whose machine dies is started
    again, and continues from the last checkpoint if the machines share the file system of `folder`.

    Args:
        jobs: what to make.
        folder: of the experiment, as all machines see it.
        address: of the cluster; None for one on this machine that ends with this process.
        processes: how many jobs at a time, at most, on such a cluster.
    """
    try:
        import ray
    except ImportError:
        raise MentorNetError("the engine ray needs Ray: pip install 'mentornet[ray]'") from None
    ours = not ray.is_initialized()
    if ours:
        _check_reachable(address)
        try:
            ray.init(
                address=address or "local", num_cpus=processes if address is None else None,
                include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
            )  # fmt: skip
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise MentorNetError(f"there is no Ray cluster at {address}: {error}") from None
    try:
        gpus = 1 if ray.cluster_resources().get("GPU", 0) >= 1 else 0
        task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=5)(_attempt)
        order = Order(jobs)
        running: dict[Any, Job] = {}
        while order.left or running:
            while (job := order.take()) is not None:
                running[task.remote(job, f"{folder.absolute()}", None)] = job
            ready, _ = ray.wait(list(running), num_returns=1)
            job = running.pop(ready[0])
            try:
                outcome = Outcome(job, *ray.get(ready[0]))
            except ray.exceptions.RayError as error:
                outcome = Outcome(job, error=f"{type(error).__name__}: {error}".splitlines()[0])
            yield from _with_dependents(outcome, order)
    finally:
        if ours:
            ray.shutdown()
