"""The columns of a table, wherever they are: in a file, or in a saved dataset of Hugging Face."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from torch import Tensor

from mentornet.data.files.saved_table import SavedTable, read_saved
from mentornet.data.files.vector_file import read_vectors
from mentornet.data.tables.reading import Cells, read_cells
from mentornet.errors import MentorNetError
from mentornet.parquet import class_names, vector_columns

__all__ = ["Columns", "labels_of_saved", "read_columns", "with_class_names"]

_NO_LABEL = "-1"  # the number of no class


@dataclass(frozen=True)
class Columns:
    """What a table has.

    Attributes:
        cells: the columns of text and numbers.
        lists: the names of the columns of vectors.
        vectors: reads one of these, `(N, D)`.
        class_names: the names of the classes in a column, if it holds numbers of named classes.
        notes: lines to tell the user.
    """

    cells: Cells
    lists: Sequence[str] = ()
    vectors: Callable[[str], Tensor] | None = None
    class_names: Callable[[str], tuple[str, ...] | None] = lambda _: None
    notes: Sequence[str] = ()


def read_columns(path: Path) -> Columns:
    """Read a `.csv` or `.parquet` file, or the folder of a saved dataset, without its vectors."""
    if path.is_dir():
        table = read_saved(path)
        return Columns(
            _cells(table, table.plain), table.lists, table.vectors, table.class_names, table.notes
        )
    cells = read_cells(path)
    if path.suffix.lower() != ".parquet":
        return Columns(cells)
    return Columns(
        cells, vector_columns(path), partial(read_vectors, path), partial(class_names, path)
    )


def _cells(table: SavedTable, names: Sequence[str]) -> Cells:
    columns, numbers = table.cells(names)
    return Cells(table.folder, columns, numbers)


def labels_of_saved(table: SavedTable, label: str) -> Cells:
    """Read the labels of a saved dataset, and what else is said of them.

    Args:
        table: the dataset.
        label: the column of labels.
    """
    names = [label, *(name for name in ("true_label", "split") if name in table.plain)]
    if label not in table.plain:
        raise MentorNetError(f"{table.folder}: column {label!r} has no text or whole numbers")
    cells = _cells(table, list(dict.fromkeys(names)))
    return with_class_names(cells, label, table.class_names)


def with_class_names(
    cells: Cells, label: str, names: Callable[[str], tuple[str, ...] | None]
) -> Cells:
    """Return the table with names in place of class numbers, if the labels have names.

    Hugging Face gives a sample without a label the number −1, which becomes empty text.
    """
    known = names(label)
    if known is None:
        return cells
    spelled = {_NO_LABEL: ""} | {f"{number}": name for number, name in enumerate(known)}
    named = {
        column: tuple(spelled.get(cell, cell) for cell in cells.columns[column])
        for column in (label, "true_label")
        if column in cells.columns
    }
    return replace(cells, columns=cells.columns | named)
