"""The columns of a table: numbers and categories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mentornet.data.encoding.scaling import FARTHEST
from mentornet.errors import MentorNetError, cut

__all__ = ["MOST", "Category", "Number", "is_missing", "is_number"]

_MISSING = {"", "na", "n/a", "nan", "-nan", "#n/a", "null", "none", "?"}
MOST = 100
"""The most categories of a column that get a place of their own; the most frequent ones do."""

Floats = NDArray[np.float64]


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value, as in other programs."""
    return len(cell) <= 4 and cell.lower() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number in plain digits, or infinite.

    >>> is_number("-1e3"), is_number("1_000"), is_number("one")
    (True, False, False)
    """
    if len(cell) > 400 or "_" in cell or not cell.isascii():
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Number:
    """A column of numbers x, which becomes (x − μ)/σ; a missing x is the median.

    If values were missing in training, a second column says where: 1 for missing, else 0.

    Attributes:
        column: its name.
        median: the median of the training values that are there.
        mean: μ of the training values, with the median where they are missing.
        deviation: σ of the same, or 1 if all are equal.
        misses: whether training values were missing.
    """

    column: str
    median: float
    mean: float
    deviation: float
    misses: bool

    def __post_init__(self) -> None:
        if not self.deviation > 0:
            raise MentorNetError(f"deviation must be above 0, got {self.deviation:g}")

    @classmethod
    def fit(cls, column: str, cells: tuple[str, ...]) -> Number:
        """Return the column as it is in training."""
        values = _numbers(column, cells)
        there = values[~np.isnan(values)]
        median = float(np.median(there))
        filled = np.where(np.isnan(values), median, values)
        deviation = float(filled.std())
        misses = len(there) < len(values)
        return cls(
            column, median, float(filled.mean()), deviation if deviation > 0 else 1.0, misses
        )

    @property
    def width(self) -> int:
        """The number of values that a cell becomes."""
        return 2 if self.misses else 1

    def encode(self, cells: tuple[str, ...]) -> tuple[Floats, int]:
        """Return the values of the cells, `(N, width)`, and 0."""
        values = _numbers(self.column, cells)
        missing = np.isnan(values)
        scaled = (np.where(missing, self.median, values) - self.mean) / self.deviation
        scaled = scaled.clip(-FARTHEST, FARTHEST)
        return np.stack([scaled, missing] if self.misses else [scaled], 1), 0


@dataclass(frozen=True)
class Category:
    """A column of categories, each of which becomes a column with 1 where it is, and 0 elsewhere.

    A missing value is a category if it is there in training. A category without a column of its
    own, rare in training or never seen, is 0 everywhere.

    Attributes:
        column: its name.
        categories: the most frequent categories of training, sorted; missing is empty text.
        rare: the other categories of training.
    """

    column: str
    categories: list[str]
    rare: list[str]

    @classmethod
    def fit(cls, column: str, cells: tuple[str, ...]) -> Category:
        """Return the column as it is in training."""
        counts = Counter(_category(cell) for cell in cells)
        ordered = sorted(counts, key=lambda name: (-counts[name], name))
        return cls(column, sorted(ordered[:MOST]), sorted(ordered[MOST:]))

    @property
    def width(self) -> int:
        """The number of values that a cell becomes."""
        return len(self.categories)

    def encode(self, cells: tuple[str, ...]) -> tuple[Floats, int]:
        """Return the values of the cells, `(N, width)`, and how many were never seen."""
        places = {name: place for place, name in enumerate(self.categories)}
        rare, unseen = set(self.rare), 0
        values = np.zeros((len(cells), self.width))
        for row, cell in enumerate(cells):
            name = _category(cell)
            if name in places:
                values[row, places[name]] = 1
            elif name and name not in rare:
                unseen += 1
        return values, unseen


def _category(cell: str) -> str:
    return "" if is_missing(cell) else cell


def _numbers(column: str, cells: tuple[str, ...]) -> Floats:
    """Return the cells as numbers, `(N,)`, NaN for missing; anything else is an error."""
    values = np.empty(len(cells))
    for row, cell in enumerate(cells):
        if is_missing(cell):
            values[row] = np.nan
        elif not is_number(cell):
            raise MentorNetError(
                f"column {cut(column)!r} has numbers in training, but {cut(cell)!r} in row {row} "
                "(from 0); leave the cell empty if the value is missing"
            )
        else:
            values[row] = float(cell)
            if np.isinf(values[row]):
                raise MentorNetError(
                    f"column {cut(column)!r} has {cut(cell)!r} in row {row} (from 0); values must "
                    "be finite: leave the cell empty if the value is missing"
                )
    return values
