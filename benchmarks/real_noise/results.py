"""The cells of the table and where their results are stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.real_noise.rows import rows_of
from mentornet.files import read_json

__all__ = ["CASES", "RESULTS", "SEEDS", "Cell", "cells", "file_of", "read_cell"]

RESULTS = Path(__file__).parents[2] / "results" / "real-noise"
SEEDS = 3
CASES = (
    ("trec", "head"), ("semeval", "head"), ("yoruba-news", "head"), ("music-one-worker", "mlp"),
    ("music-one-worker", "trees"), ("cifar10-aggre", "head"), ("cifar10-random1", "head"),
)  # fmt: skip
"""The data and the student of each part of the table."""


class Cell(NamedTuple):
    """One run."""

    data: str
    student: str
    row: str
    seed: int


def cells() -> Iterator[Cell]:
    """List all runs, those of the first seed first; plain training before all that follows it."""
    for seed in range(SEEDS):
        for data, student in CASES:
            for row in rows_of(student):
                yield Cell(data, student, row, seed)


def file_of(cell: Cell) -> Path:
    """Return the file with the result of a run."""
    return RESULTS / f"{'-'.join(map(str, cell))}.json"


def read_cell(cell: Cell) -> dict[str, Any] | None:
    """Return the result of a run; None if it has not been made."""
    path = file_of(cell)
    return read_json(path) if path.is_file() else None
