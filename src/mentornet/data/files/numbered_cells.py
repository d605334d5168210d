"""The cells of a CSV or Parquet file as text, row by row."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

from mentornet.cells import csv_rows, unguard
from mentornet.errors import MentorNetError, cut
from mentornet.files import reading
from mentornet.parquet import plain_columns, read_parquet

__all__ = ["Numbered", "cell_text", "numbered_cells"]

Numbered = Iterator[tuple[int, dict[str, str]]]
"""The number of each row, and its cells by column."""


def numbered_cells(path: Path, wanted: Collection[str] | None = None) -> tuple[list[str], Numbered]:
    """The header of a `.csv` or `.parquet` file, and its rows, read as they are asked for.

    Rows are counted as in a spreadsheet: the header of a CSV file is row 1. A missing cell is empty
    text.

    Args:
        path: the file.
        wanted: the columns that are read of a Parquet file; by default all of text and numbers.
    """
    header, rows = _read_csv(path) if path.suffix.lower() == ".csv" else _read_parquet(path, wanted)
    found = f"{path} has the columns {cut(', '.join(header), 200)}"
    if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
        raise MentorNetError(f"{found}; columns must be separated by commas")
    if len(set(header)) < len(header):
        raise MentorNetError(f"{found}, one of them twice")
    return header, rows


def _read_csv(path: Path) -> tuple[list[str], Numbered]:
    rows = csv_rows(path)
    first = next(rows, None)
    if first is None:
        raise MentorNetError(f"{path} is empty")
    header = [unguard(cell) for cell in first.cells]

    def numbered() -> Numbered:
        for number, _, cells in rows:
            if len(cells) > len(header):
                raise MentorNetError(
                    f"{path}, row {number} has {len(cells)} cells for {len(header)} columns; "
                    "put quotes around text with commas"
                )
            yield number, dict(zip_longest(header, map(unguard, cells), fillvalue=""))

    return header, numbered()


def _read_parquet(path: Path, wanted: Collection[str] | None) -> tuple[list[str], Numbered]:
    header, plain = plain_columns(path)
    columns = read_parquet(
        path, [name for name in header if (name in plain if wanted is None else name in wanted)]
    )

    def numbered() -> Numbered:
        for number, values in enumerate(zip(*columns.values(), strict=True), start=1):
            place = f"{path}, row {number}"
            cells = zip(columns, values, strict=True)
            yield number, {name: cell_text(place, name, value) for name, value in cells}

    return header, numbered()


def cell_text(place: str, column: str, value: Any) -> str:
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
