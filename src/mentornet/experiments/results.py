"""The folder of an experiment: a JSON file a result, written once, whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError
from mentornet.experiments.cells import Run
from mentornet.files import read_json, write_json

__all__ = ["FAILURE", "FORMAT", "TABLE6", "Results"]

TABLE6 = "table6.json"
"""The one table that is no training: it has a file of its own."""

FAILURE = "failed.txt"
"""In the folder of a run that failed: why."""

FORMAT = 1
"""Of the files; another number means another version of mentornet."""

_NEEDED = ("digest", "run", "train_accuracy", "curve", "tried", "conditions")
_OF_RUN = ("seed", "accuracy_last", "accuracy_best", "seconds", "noise_rate_actual")


class Results:
    """Results by run, `FOLDER/*.json`; the runs themselves are in `FOLDER/runs`.

    Args:
        folder: there or not.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise MentorNetError(f"--out must be a folder, but {folder} is a file")

    def path(self, run: Run) -> Path:
        """Where the result of a run is, or will be."""
        return self.folder / f"{run.key}.json"

    def working(self, run: Run) -> Path:
        """Where the run is made, and goes on if it was killed."""
        return self.folder / "runs" / run.key

    def failure(self, run: Run) -> Path:
        """Where it is said why a run failed, until it is made after all."""
        return self.working(run) / FAILURE

    def find(self, run: Run) -> dict[str, Any] | None:
        """The result of that very run, if it is there."""
        path = self.path(run)
        return self._read(path) if path.exists() else None

    def tried(self, run: Run) -> list[dict[str, Any]] | None:
        """What was tried for the first seed of that run, if its result is there."""
        found = self.find(run.with_seed(0))
        return None if found is None else found["tried"]

    def write(self, run: Run, result: Mapping[str, Any]) -> None:
        """Keep a result."""
        write_json(self.path(run), {"format": FORMAT, "digest": run.digest, **result})

    def every(self) -> Iterator[dict[str, Any]]:
        """All results, whatever they are of."""
        for path in sorted(self.folder.glob("*.json")):
            if path.name != TABLE6:
                yield self._read(path)

    def named(self, start: str) -> Iterator[dict[str, Any]]:
        """Those whose file name starts so."""
        for path in sorted(self.folder.glob(f"{start}*.json")):
            yield self._read(path)

    def most_seeds(self) -> int:
        """How many seeds there may be of a run: one more than the largest."""
        return max((int(found["run"]["seed"]) for found in self.every()), default=0) + 1

    def check(self) -> None:
        """Raise if any result is of another version, or damaged."""
        for _ in self.every():
            pass

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            found = read_json(path)
        except MentorNetError as error:
            raise MentorNetError(f"{error}; move it away, and the run is made again") from None
        if found.get("format") != FORMAT:
            raise MentorNetError(
                f"{path} has format {found.get('format')!r}, this mentornet writes {FORMAT}; "
                "choose another --out, or move it away"
            )
        missing = [name for name in _NEEDED if name not in found]
        of_run = found.get("run")
        known = of_run if isinstance(of_run, dict) else {}
        missing += [f"run.{name}" for name in _OF_RUN if name not in known]
        if missing:
            raise MentorNetError(
                f"{path} has no {missing[0]}: it was edited, or written by another mentornet; move "
                "it away, and the run is made again"
            )
        if not path.stem.endswith(f"-{found['digest']}"):
            raise MentorNetError(
                f"{path} holds the result of another run, {found['digest']}: it was renamed; move "
                "it away, and the run is made again"
            )
        return found
