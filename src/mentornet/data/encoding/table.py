"""Rows of a table as vectors: numbers are scaled, and categories become zeros and ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.data.encoding.encoder import Encoded, Encoder
from mentornet.data.encoding.raw import Rows
from mentornet.data.encoding.scaling import FARTHEST
from mentornet.errors import MentorNetError, cut
from mentornet.schema import typed

__all__ = ["Category", "Number", "Table", "is_missing", "is_number"]

_MISSING = {"", "na", "n/a", "nan", "-nan", "#n/a", "null", "none", "?"}
_CATEGORIES = 100  # of a column that get a place of their own, the most frequent ones

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

    @classmethod
    def fit(cls, column: str, cells: tuple[str, ...]) -> Number:
        """Return the column as it is in training."""
        values = numbers_of(column, cells)
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
        values = numbers_of(self.column, cells)
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
        return cls(column, sorted(ordered[:_CATEGORIES]), sorted(ordered[_CATEGORIES:]))

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


def numbers_of(column: str, cells: tuple[str, ...]) -> Floats:
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


@dataclass(frozen=True)
class Table(Encoder):
    """The columns of a table, encoded and put side by side.

    Attributes:
        numbers: the fields of each `Number`.
        categories: the fields of each `Category`.
    """

    name: ClassVar[str] = "table"
    reads: ClassVar[type[Rows]] = Rows
    numbers: list[Number]
    categories: list[Category]

    @classmethod
    def fit(cls, raw: Rows) -> tuple[Table, tuple[str, ...]]:
        """Columns whose cells are all numbers or missing are numbers; the others are categories.

        A column with no value, or with another category in every row, is left out.
        """
        numbers, categories, left = [], [], []
        for column, cells in raw.columns.items():
            there = [cell for cell in cells if not is_missing(cell)]
            if not there:
                left.append(f"{cut(column)} has no values")
            elif all(map(is_number, there)):
                numbers.append(Number.fit(column, cells))
            elif len(set(there)) == len(there) > 2:
                left.append(f"{cut(column)} has another value in every row")
            else:
                categories.append(Category.fit(column, cells))
        if not numbers and not categories:
            raise MentorNetError(f"no column is left to learn from: {cut('; '.join(left), 300)}")
        notes = [f"{_count(len(numbers), 'column')} of numbers and {len(categories)} of categories"]
        missing = [number.column for number in numbers if number.misses]
        if missing:
            notes.append(
                f"missing numbers are filled with the median, and a further column says where: "
                f"{cut(', '.join(missing), 200)}"
            )
        rare = [category.column for category in categories if category.rare]
        if rare:
            notes.append(
                f"of each column the {_CATEGORIES} most frequent categories count: "
                f"{cut(', '.join(rare), 200)} have more"
            )
        notes += [f"column left out: {line}" for line in left[:3]]
        if len(left) > 3:
            notes.append(f"{len(left) - 3} more columns are left out")
        return cls(numbers, categories), tuple(notes)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(part.column for part in (*self.numbers, *self.categories))

    def encode(self, raw: Rows) -> Encoded:
        parts, notes = [], []
        for part in (*self.numbers, *self.categories):
            values, unseen = part.encode(raw.columns[part.column])
            parts.append(values.astype(np.float32))
            if unseen:
                notes.append(f"{unseen:,} in {cut(part.column)!r}")
        inputs = torch.from_numpy(np.concatenate(parts, 1))
        said = f"categories that training has not seen count as none: {', '.join(notes)}"
        return Encoded(inputs, (said,) if notes else ())

    @classmethod
    def from_json(cls, content: Mapping[str, Any], where: str) -> Table:
        fields = typed(_Fields, content, where)
        return cls(
            [typed(Number, part, f"{where}, numbers") for part in fields.numbers],
            [typed(Category, part, f"{where}, categories") for part in fields.categories],
        )


@dataclass(frozen=True)
class _Fields:
    numbers: list[dict[str, Any]]
    categories: list[dict[str, Any]]


def _count(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count} {word}s"
