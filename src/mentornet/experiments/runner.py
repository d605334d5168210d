"""Run what is missing, a process a job, and keep each result as soon as it is there."""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mentornet.errors import MentorNetError
from mentornet.files import as_json, read_json, write_json
from mentornet.version import __version__

__all__ = ["Job", "run_missing"]

Result = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One run: a function that can be imported by name, and its plain arguments.

    Args:
        key: says in the result's file name what it is.
        function: takes the settings as keywords, returns what JSON can hold.
        settings: together with the function, all that the result depends on.
    """

    key: str
    function: Callable[..., Result]
    settings: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Changes with the settings or our version, so that an old result is not taken for new."""
        about = {"function": self.function.__qualname__, "version": __version__}
        text = as_json({**about, **self.settings})
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def path(self, folder: Path) -> Path:
        """Where the result is kept."""
        return folder / f"{self.key}-{self.digest}.json"

    def stored(self, folder: Path) -> Result | None:
        """The result of an earlier run of just these settings, if there is one."""
        try:
            content = read_json(self.path(folder))
        except MentorNetError:
            return None
        return content.get("result") if content.get("digest") == self.digest else None


def run_missing(
    jobs: Iterable[Job], folder: Path, *, processes: int = 2
) -> Iterator[tuple[Job, Result]]:
    """Every job with its result, the stored ones first, then the others as they finish.

    A job runs on one thread of its own process. What has finished is on disk, so after a
    kill the same call goes on with what is missing.
    """
    missing = []
    for job in jobs:
        result = job.stored(folder)
        if result is None:
            missing.append(job)
        else:
            yield job, result
    if not missing:
        return
    context = multiprocessing.get_context("spawn")
    workers = min(processes, len(missing))
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare_worker) as pool:
        running = {pool.submit(job.function, **job.settings): job for job in missing}
        failed = []
        try:
            for future in as_completed(running):
                job = running[future]
                try:
                    result = future.result()
                except BrokenProcessPool:
                    raise MentorNetError(
                        f"a process died, perhaps for want of memory; what has finished is in "
                        f"{folder}, and the same command goes on from there"
                    ) from None
                except Exception as error:  # noqa: BLE001  one that fails must not stop the others
                    failed.append(f"{job.key}: {type(error).__name__}: {error}")
                    continue
                content = {"digest": job.digest, "settings": dict(job.settings), "result": result}
                write_json(job.path(folder), content)
                yield job, result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if failed:
        raise MentorNetError(f"{len(failed)} of {len(missing)} failed: {'; '.join(failed[:3])}")


def _prepare_worker() -> None:
    """One thread each; an interruption is the parent's to deal with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
