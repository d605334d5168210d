"""Samples as their file has them: texts, rows of a table, or vectors.

A student cannot read them like that. An `Encoder` makes a tensor of them, and the page of the audit
shows them to a person.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from torch import Tensor

__all__ = ["Raw", "Rows", "Texts", "Vectors"]

Self = TypeVar("Self", bound="Raw")


class Raw(ABC):
    """N samples as their file has them."""

    kind: ClassVar[str]
    """What a sample is called, in the plural."""

    @abstractmethod
    def __len__(self) -> int:
        """N."""

    @abstractmethod
    def at(self: Self, places: Tensor) -> Self:
        """Return the samples at these places, `(n,)`, whole numbers."""

    @abstractmethod
    def shown(self) -> list[str] | None:
        """Return what a person reads of each sample; None if that would tell nothing."""

    @abstractmethod
    def cells(self) -> dict[str, Sequence[str]]:
        """Return the columns by which a table lists the samples."""


@dataclass(frozen=True)
class Texts(Raw):
    """Texts, such as the cells of a column.

    Attributes:
        column: the name of the column.
        texts: N texts.
    """

    kind: ClassVar[str] = "texts"
    column: str
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, places: Tensor) -> Texts:
        return Texts(self.column, tuple(self.texts[place] for place in places.tolist()))

    def shown(self) -> list[str]:
        return list(self.texts)

    def cells(self) -> dict[str, Sequence[str]]:
        return {self.column: self.texts}


@dataclass(frozen=True)
class Rows(Raw):
    """Rows of a table.

    Attributes:
        columns: the N cells of each column, by its name. An empty cell is empty text.
    """

    kind: ClassVar[str] = "rows"
    columns: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def at(self, places: Tensor) -> Rows:
        chosen = places.tolist()
        return Rows(
            {name: tuple(cells[place] for place in chosen) for name, cells in self.columns.items()}
        )

    def shown(self) -> list[str]:
        """Return `name: cell` of the cells that are not empty, one in a line."""
        names = list(self.columns)
        return [
            "\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True) if cell)
            for row in zip(*self.columns.values(), strict=True)
        ]

    def cells(self) -> dict[str, Sequence[str]]:
        return dict(self.columns)


@dataclass(frozen=True, eq=False)
class Vectors(Raw):
    """Vectors, such as embeddings.

    Attributes:
        column: the name of the column or array that they come from, if it has one.
        values: float32, `(N, D)`.
    """

    kind: ClassVar[str] = "vectors"
    column: str | None
    values: Tensor

    def __len__(self) -> int:
        return len(self.values)

    def at(self, places: Tensor) -> Vectors:
        return Vectors(self.column, self.values[places])

    def shown(self) -> None:
        return None

    def cells(self) -> dict[str, Sequence[str]]:
        return {}
