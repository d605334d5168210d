"""Making one job of an experiment: tune it, do it, and store what came of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mentornet.experiments.conditions import conditions
from mentornet.experiments.jobs import Job
from mentornet.experiments.results import Results
from mentornet.experiments.stored import read_tried, read_under
from mentornet.files import write_json
from mentornet.locking import alone
from mentornet.training.observer import Observer

__all__ = ["make_job"]


class Orphaned(Observer):
    """Ends the process when nobody waits for its result any more."""

    def __init__(self, parent: int | None) -> None:
        self.parent = parent

    def epoch(self, row: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._end_if_alone()

    def note(self, text: str) -> None:  # noqa: ARG002  a recipe has no epochs, but notes
        self._end_if_alone()

    def _end_if_alone(self) -> None:
        if self.parent is not None and os.getppid() != self.parent:
            os._exit(1)  # what is on disk is whole; the job continues from there


def make_job(job: Job, folder: str | Path, *, parent: int | None = None) -> dict[str, Any]:
    """Make `job` if `folder` does not have its result yet, and return the result.

    A second process that asks for the same job waits, and finds the result.

    Args:
        job: what to make.
        folder: of the experiment.
        parent: the process that waits for the result; the job stops when it has gone. None for a
            job that never stops.
    """
    torch.set_num_threads(1)  # several jobs share a machine
    results = Results(Path(folder))
    observer = Orphaned(parent)
    with _alone(results.working(job)):
        found = results.find(job)
        if found is not None:
            return found
        under = _conditions(results.working(job))
        tried, settings = None, job.taken(results.working)
        if job.tuning is not None:
            tried = _tried(job, results, observer)
            settings += tuple(max(tried, key=job.score)["set"])  # the first of equals
        result = job.make(settings, results.working(job) / "run", observer)
        result |= {"tried": tried, "conditions": under[0]}
        if under[1:]:
            result["went_on_under"] = under[1:]
        results.write(job, result)
    found = results.find(job)
    assert found is not None
    return found


def _tried(job: Job, results: Results, observer: Observer) -> list[dict[str, Any]]:
    """Every candidate with what it reached at the first seed."""
    assert job.tuning is not None
    stored = results.tried(job)
    if stored is not None:
        return stored
    first = job.with_seed(0)
    folder = results.folder / "runs" / f"tuning-{first.key}"
    with _alone(folder):
        path = folder / "tried.json"
        if path.exists():
            return read_tried(path)
        tried = []
        for settings in job.tuning.candidates:
            out = folder / "-".join(word.replace("=", "-") for word in settings)
            words = (*first.taken(results.working), *settings)
            tried.append({"set": list(settings), **first.attempt(words, out, observer)})
        write_json(path, {"tried": tried})
        return tried


def _conditions(working: Path) -> list[dict[str, str | int]]:
    """The conditions under which a job was begun, and those under which it was continued.

    They are stored before the job begins: when it has ended, the code on disk may be another.
    """
    path = working / "conditions.json"
    under = read_under(path)
    now = conditions()
    if not under or under[-1] != now:
        under.append(now)
        write_json(path, {"under": under})
    return under


def _alone(folder: Path) -> Any:
    folder.mkdir(parents=True, exist_ok=True)
    return alone(folder)
