"""The rows of a manifest as text, from CSV or parquet."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mentornet.data.files.numbered_cells import numbered_cells
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["Row", "read_rows"]

COLUMNS = ("path", "label", "given_label", "true_label", "split")
"""The columns that are read; `label` and `given_label` mean the same."""


@dataclass(frozen=True)
class Row:
    """One row. A missing cell is empty text. In messages a row is `manifest.csv, row 3`."""

    place: str
    path: str
    label: str
    true_label: str
    split: str

    def __str__(self) -> str:
        return self.place


def read_rows(path: Path) -> tuple[Iterator[Row], list[str]]:
    """The rows of a `.csv` or `.parquet` manifest, and notes on columns that were not used.

    Rows are counted as in a spreadsheet: the header of a CSV file is row 1. They are read as they
    are asked for.
    """
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise MentorNetError(f"a manifest must be a .csv or .parquet file, got {path.name}")
    header, numbered = numbered_cells(path, COLUMNS)
    label = _check_columns(path, header)
    rows = (
        Row(
            f"{path}, row {number}",
            cells["path"],
            cells[label],
            cells.get("true_label", ""),
            cells.get("split", ""),
        )
        for number, cells in numbered
    )
    unused = [name for name in header if name and name not in COLUMNS]
    return rows, [f"columns of {path.name} not used: {', '.join(unused)}"] if unused else []


def _check_columns(path: Path, header: list[str]) -> str:
    """The name of the column with the labels; a wrong header is an error."""
    found = f"{path} has the columns {cut(', '.join(header), 200)}"
    labels = [name for name in ("label", "given_label") if name in header]
    if len(labels) == 2:
        raise MentorNetError(f"{found}; label and given_label mean the same: keep one of them")
    for wanted, there in (("path", "path" in header), ("label", bool(labels))):
        if not there:
            hint = did_you_mean(wanted, header)
            raise MentorNetError(f"{path} has no column {wanted!r}; {hint}")
    for name in header:
        close = difflib.get_close_matches(name, COLUMNS, n=1, cutoff=0.85)
        if close and close[0] not in (*header, "label", "given_label"):
            raise MentorNetError(
                f"{found}; {cut(name)!r} looks like {close[0]!r}: please rename it"
            )
    return labels[0]
