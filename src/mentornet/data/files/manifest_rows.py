"""The rows of a manifest as text, from CSV or parquet."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

from mentornet.cells import csv_rows, unguard
from mentornet.errors import MentorNetError, cut
from mentornet.files import reading
from mentornet.names import did_you_mean
from mentornet.parquet import column_names, read_parquet

__all__ = ["Row", "read_rows"]

COLUMNS = ("path", "label", "given_label", "true_label", "split")
"""The columns that are read; `label` and `given_label` mean the same."""

_Numbered = Iterator[tuple[int, dict[str, str]]]
"""The number of each row, and its cells by column."""


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
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise MentorNetError(f"a manifest must be a .csv or .parquet file, got {path.name}")
    header, numbered = readers[path.suffix.lower()](path)
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
    if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
        raise MentorNetError(f"{found}; columns must be separated by commas")
    if len(set(header)) < len(header):
        raise MentorNetError(f"{found}, one of them twice")
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


def _read_csv(path: Path) -> tuple[list[str], _Numbered]:
    rows = csv_rows(path)
    first = next(rows, None)
    if first is None:
        raise MentorNetError(f"{path} is empty")
    header = [unguard(cell) for cell in first.cells]

    def numbered() -> _Numbered:
        for number, _, cells in rows:
            if len(cells) > len(header):
                raise MentorNetError(
                    f"{path}, row {number} has {len(cells)} cells for {len(header)} columns; "
                    "put quotes around text with commas"
                )
            yield number, dict(zip_longest(header, map(unguard, cells), fillvalue=""))

    return header, numbered()


def _read_parquet(path: Path) -> tuple[list[str], _Numbered]:
    header = column_names(path)
    columns = read_parquet(path, [name for name in COLUMNS if name in header])

    def numbered() -> _Numbered:
        for number, values in enumerate(zip(*columns.values(), strict=True), start=1):
            place = f"{path}, row {number}"
            cells = zip(columns, values, strict=True)
            yield number, {name: _text(place, name, value) for name, value in cells}

    return header, numbered()


def _text(place: str, column: str, value: Any) -> str:
    """A cell as text: None and NaN become empty text, and 3.0 becomes 3."""
    if isinstance(value, bytes):
        with reading(place):
            return value.decode().strip()
    if value is None or value != value:
        return ""
    if isinstance(value, float | Decimal) and value % 1 == 0:
        value = int(value)
    if not isinstance(value, str | int | float | Decimal):
        kind = type(value).__name__
        raise MentorNetError(f"{place}: {column} must be text or a number, got {kind}")
    return str(value).strip()
