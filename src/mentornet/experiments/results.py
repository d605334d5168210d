"""The folder of an experiment: one JSON file for each result, written once and whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from mentornet.config import Precision
from mentornet.errors import MentorNetError, cut
from mentornet.experiments.jobs import Job
from mentornet.experiments.stored import check_result
from mentornet.files import read_json, write_json

__all__ = ["FAILURE", "FORMAT", "Results", "format_of"]

FAILURE = "failed.txt"
"""The file in the folder of a job that failed; it says why."""

FORMAT = 2
"""The version of the files; another number means another version of mentornet."""

_NEEDED = ("digest", "kind", "run", "config", "curve", "tried", "conditions")
_OF_KIND = {
    "training": (
        "run.seed", "run.seconds", "run.accuracy_last", "run.accuracy_best",
        "run.noise_rate_actual", "train_accuracy",
    ),
    "fit": ("run.seed", "run.seconds", "run.mse"),
}  # fmt: skip


class Results:
    """The results of jobs, `FOLDER/*.json`; the jobs themselves are made in `FOLDER/runs`.

    Args:
        folder: need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise MentorNetError(f"out must be a folder, but {folder} is a file")

    def path(self, job: Job) -> Path:
        """Where the result of a job is, or will be."""
        return self.folder / f"{job.key}.json"

    def working(self, job: Job) -> Path:
        """Where the job is made, and continues if it was interrupted."""
        return self.folder / "runs" / job.key

    def failure(self, job: Job) -> Path:
        """The file that says why a job failed, until it is made after all."""
        return self.working(job) / FAILURE

    def find(self, job: Job) -> dict[str, Any] | None:
        """The result of exactly that job, if there is one.

        A job that asks for a number format also finds a result that was made in it without asking.
        """
        for same in (job, job.with_precision("auto")):
            path = self.path(same)
            found = self._read(path) if path.exists() else None
            if found is not None and job.precision in ("auto", format_of(found)):
                return found
        return None

    def of_any_format(self, job: Job) -> list[dict[str, Any]]:
        """The results of that job in any number format."""
        formats = get_args(Precision)
        paths = {self.path(job.with_precision(precision)): None for precision in formats}
        return [self._read(path) for path in paths if path.exists()]

    def tried(self, job: Job) -> list[dict[str, Any]] | None:
        """What was tried for the first seed of that job, if its result is there."""
        found = self.find(job.with_seed(0))
        return None if found is None else found["tried"]

    def write(self, job: Job, result: Mapping[str, Any]) -> None:
        """Store a result."""
        about = {"format": FORMAT, "digest": job.digest, "kind": job.kind}
        write_json(self.path(job), {**about, **result})

    def every(self) -> Iterator[dict[str, Any]]:
        """All results, of any job."""
        for path in sorted(self.folder.glob("*.json")):
            yield self._read(path)

    def most_seeds(self) -> int:
        """How many seeds there may be of a job: one more than the largest."""
        return max((int(found["run"]["seed"]) for found in self.every()), default=0) + 1

    def check(self) -> None:
        """Raise if any result is damaged, or of another version."""
        for _ in self.every():
            pass

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            found = read_json(path)
        except MentorNetError as error:
            raise MentorNetError(f"{error}; move it away, and the run is made again") from None
        if found.get("format") != FORMAT:
            raise MentorNetError(
                f"{path} has format {cut(repr(found.get('format')))}, this mentornet writes "
                f"{FORMAT}; choose another folder, or move it away"
            )
        missing = _missing(found)
        if missing:
            raise MentorNetError(
                f"{path} has no {missing}: it was edited, or written by another mentornet; move "
                "it away, and the run is made again"
            )
        try:
            check_result(found, f"{path}")
        except MentorNetError as error:
            raise MentorNetError(f"{error}; move it away, and the run is made again") from None
        if not path.stem.endswith(f"-{found['digest']}"):
            raise MentorNetError(
                f"{path} holds the result of another run, {found['digest']}: it was renamed; move "
                "it away, and the run is made again"
            )
        return found


def format_of(result: Mapping[str, Any]) -> Precision:
    """The number format that a job was made in, from its config."""
    machine = result["config"].get("machine", {})
    return "bf16" if machine.get("precision") == "bf16" else "32"


def _missing(found: Mapping[str, Any]) -> str | None:
    """The first thing that a result should have and has not."""
    run = found.get("run")
    there = {*found, *(f"run.{name}" for name in (run if isinstance(run, dict) else {}))}
    needed = (*_NEEDED, *_OF_KIND.get(f"{found.get('kind')}", ("known kind",)))
    return next((name for name in needed if name not in there), None)
