"""The cells of the table, where their results are stored, and their means."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.real_noise.rows import rows_of
from mentornet.files import read_json

__all__ = [
    "CASES",
    "RESULTS",
    "SEEDS",
    "Case",
    "Cell",
    "Entry",
    "cells",
    "file_of",
    "read",
    "stored",
]

RESULTS = Path(__file__).parents[2] / "results" / "real-noise"
SEEDS = 3


class Case(NamedTuple):
    """The data and the student of one part of the table."""

    data: str
    student: str


CASES = (
    Case("trec", "head"), Case("semeval", "head"), Case("yoruba-news", "head"),
    Case("music-one-worker", "mlp"), Case("music-one-worker", "trees"),
    Case("cifar10-aggre", "head"), Case("cifar10-random1", "head"),
)  # fmt: skip


class Cell(NamedTuple):
    """One run."""

    data: str
    student: str
    row: str
    seed: int


@dataclass(frozen=True)
class Entry:
    """The runs of one way on one set, in the order of their seeds."""

    runs: tuple[dict[str, Any], ...]

    @property
    def accuracies(self) -> list[float]:
        """The accuracy of each run on the true labels of the test rows."""
        return [run["accuracy"] for run in self.runs]

    @property
    def accuracy(self) -> float:
        """Their mean."""
        return statistics.fmean(self.accuracies)

    @property
    def precisions(self) -> list[float]:
        """The average precision of each audit; none of the oracle's and of plain trees."""
        return [run["average_precision"] for run in self.runs if "average_precision" in run]

    def mean(self, name: str) -> float:
        """Return the mean of another number that all runs have."""
        return statistics.fmean(run[name] for run in self.runs)


def cells() -> Iterator[Cell]:
    """List all runs, those of the first seed first; plain training before all that follows it."""
    for seed in range(SEEDS):
        for data, student in CASES:
            for row in rows_of(student):
                yield Cell(data, student, row, seed)


def file_of(cell: Cell) -> Path:
    """Return the file with the result of a run."""
    return RESULTS / f"{'-'.join(map(str, cell))}.json"


def read(cell: Cell) -> dict[str, Any] | None:
    """Return the result of a run; None if it has not been made."""
    path = file_of(cell)
    return read_json(path) if path.is_file() else None


def stored() -> dict[Case, dict[str, Entry]]:
    """Return what was found, by data and student and then by row.

    A seed counts if all rows of its case have been run, so that all means are over the same seeds.
    """
    table: dict[Case, dict[str, Entry]] = {}
    for case in CASES:
        rows = rows_of(case.student)
        seeds = [
            found
            for seed in range(SEEDS)
            if None not in (found := [read(Cell(*case, row, seed)) for row in rows])
        ]
        if seeds:
            columns = zip(*seeds, strict=True)
            table[case] = {row: Entry(tuple(runs)) for row, runs in zip(rows, columns, strict=True)}
    return table
