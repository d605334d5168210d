"""Texts, rows and vectors from a file, with the labels beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mentornet.data.encoding import Encoder, Raw, Rows, Texts, Vectors
from mentornet.data.files.numbered_cells import numbered_cells
from mentornet.data.files.saved_dataset import is_saved
from mentornet.data.files.saved_table import read_saved
from mentornet.data.files.vector_file import pick_vectors, read_vectors
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["TABLES", "Cells", "read_cells", "read_raw"]

TABLES = (".csv", ".parquet", ".npy", ".npz")
"""The endings of files of texts, rows and vectors."""


@dataclass(frozen=True)
class Cells:
    """The columns of a table, as text.

    Attributes:
        path: the file, or the folder of a saved dataset.
        columns: the N cells of each column; an empty cell is empty text.
        numbers: the number of each row as a spreadsheet counts, for messages; with the name of its
            part, if there are several.
    """

    path: Path
    columns: dict[str, tuple[str, ...]]
    numbers: Sequence[int | str]

    def __len__(self) -> int:
        """N."""
        return len(self.numbers)

    def rows(self, kept: Sequence[int]) -> Cells:
        """The rows at these places."""
        columns = {
            name: tuple(cells[place] for place in kept) for name, cells in self.columns.items()
        }
        return Cells(self.path, columns, [self.numbers[place] for place in kept])

    def place(self, row: int) -> str:
        """Return what messages call a row."""
        return f"{self.path}, row {self.numbers[row]}"


def read_cells(path: Path, wanted: Sequence[str] | None = None) -> Cells:
    """Read all columns of text and numbers of a `.csv` or `.parquet` file, or those that are named.

    A name that is not there is an error.
    """
    header, rows = numbered_cells(path, wanted)
    for name in wanted or ():
        if name not in header:
            raise MentorNetError(
                f"{path} has no column {cut(name)!r}; {did_you_mean(name, header)}"
            )
    names = header if wanted is None else list(wanted)
    found: dict[str, list[str]] = {}
    numbers: list[int] = []
    for number, cells in rows:
        if not numbers:
            found = {name: [] for name in names if name and name in cells}
        numbers.append(number)
        for name, column in found.items():
            column.append(cells[name])
    if not numbers:
        raise MentorNetError(f"{path} has no rows")
    return Cells(path, {name: tuple(column) for name, column in found.items()}, numbers)


def read_raw(path: Path, encoder: Encoder) -> Raw:
    """Read what an encoder needs of a file of new samples; labels need not be there.

    Args:
        path: the file, or the folder of a saved dataset.
        encoder: says which columns it reads.
    """
    path = path.expanduser()
    if not path.exists():
        raise MentorNetError(f"{path} is missing")
    if path.is_dir() and is_saved(path):
        return _read_saved(path, encoder)
    if path.suffix.lower() not in TABLES:
        raise MentorNetError(
            f"{encoder.reads.kind} must be in a {', '.join(TABLES)} file, got {cut(path.name)}"
        )
    if encoder.reads is Vectors:
        in_parquet = path.suffix.lower() == ".parquet"
        column = encoder.columns[0] if encoder.columns and in_parquet else None
        return Vectors(column, read_vectors(path, column))
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise MentorNetError(
            f"this run was trained on {encoder.reads.kind}, which a .csv or .parquet file has, "
            f"got {cut(path.name)}"
        )
    return _raw(read_cells(path, encoder.columns), encoder)


def _read_saved(folder: Path, encoder: Encoder) -> Raw:
    """Read what an encoder needs of a saved dataset without parts."""
    table = read_saved(folder, whole=False)
    if encoder.reads is Vectors:
        name = pick_vectors(
            f"{folder}", encoder.columns[0] if encoder.columns else None, table.lists
        )
        return Vectors(name, table.vectors(name))
    for name in encoder.columns:
        if name not in table.plain:
            raise MentorNetError(
                f"{folder} has no column {cut(name)!r} of text or numbers; "
                f"{did_you_mean(name, table.plain)}"
            )
    columns, numbers = table.cells(encoder.columns)
    return _raw(Cells(folder, columns, numbers), encoder)


def _raw(cells: Cells, encoder: Encoder) -> Raw:
    """The texts or rows in a table."""
    if encoder.reads is Texts:
        (column,) = encoder.columns
        check_texts(cells, column)
        return Texts(column, cells.columns[column])
    return Rows(cells.columns)


def check_texts(cells: Cells, column: str) -> None:
    """Raise if a text is empty."""
    for row, text in enumerate(cells.columns[column]):
        if not text:
            raise MentorNetError(
                f"{cells.place(row)} has an empty text in column {cut(column)!r}; leave the row out"
            )
