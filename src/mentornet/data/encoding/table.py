"""Rows of a table as vectors: numbers are scaled, and categories become zeros and ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from mentornet.data.encoding.columns import MOST, Category, Number, is_missing, is_number
from mentornet.data.encoding.encoder import Encoded, Encoder
from mentornet.data.encoding.raw import Rows
from mentornet.errors import MentorNetError, cut
from mentornet.schema import typed

__all__ = ["Table"]


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
        kinds = ((len(numbers), "numbers"), (len(categories), "categories"))
        notes = ["columns: " + ", ".join(f"{count} of {kind}" for count, kind in kinds if count)]
        missing = [number.column for number in numbers if number.misses]
        if missing:
            notes.append(
                f"missing numbers are filled with the median, and a further column says where: "
                f"{cut(', '.join(missing), 200)}"
            )
        rare = [category.column for category in categories if category.rare]
        if rare:
            notes.append(
                f"of each column the {MOST} most frequent categories count: "
                f"{cut(', '.join(rare), 200)} have more"
            )
        notes += [f"column left out: {line}" for line in left[:3]]
        if len(left) > 3:
            notes.append(f"{len(left) - 3} more columns are left out")
        return cls(numbers, categories), tuple(notes)

    @property
    def _parts(self) -> list[Number | Category]:
        return [*self.numbers, *self.categories]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(part.column for part in self._parts)

    def encode(self, raw: Rows) -> Encoded:
        widths = [part.width for part in self._parts]
        inputs = torch.empty(len(raw), sum(widths))
        notes = []
        for part, place in zip(self._parts, inputs.split(widths, 1), strict=True):
            values, unseen = part.encode(raw.columns[part.column])
            place.copy_(torch.from_numpy(values))
            if unseen:
                notes.append(f"{unseen:,} in {cut(part.column)!r}")
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
