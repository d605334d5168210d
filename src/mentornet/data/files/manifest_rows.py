"""The rows of a manifest as text, from CSV or parquet."""

from __future__ import annotations

import csv
import difflib
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from mentornet.data.files.parquet import column_names, read_parquet
from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean

__all__ = ["Row", "read_rows"]

COLUMNS = ("path", "label", "given_label", "true_label", "split")
"""The columns that are read; `label` and `given_label` mean the same."""

_Table = tuple[list[str], list[tuple[int, dict[str, str]]]]
"""The header, and the cells by column for each row with its number."""


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


def read_rows(path: Path) -> tuple[list[Row], list[str]]:
    """The rows of a `.csv` or `.parquet` manifest, and notes on columns that were not used.

    Rows are counted as in a spreadsheet: the header of a CSV file is row 1.
    """
    if not path.is_file():
        raise MentorNetError(f"{path} is missing")
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise MentorNetError(f"a manifest must be a .csv or .parquet file, got {path.name}")
    header, numbered = readers[path.suffix.lower()](path)
    label = _check_columns(path, header)
    if not numbered:
        raise MentorNetError(f"{path} lists no images")
    rows = [
        Row(
            f"{path}, row {number}",
            cells["path"],
            cells[label],
            cells.get("true_label", ""),
            cells.get("split", ""),
        )
        for number, cells in numbered
    ]
    unused = [name for name in header if name and name not in COLUMNS]
    return rows, [f"columns of {path.name} not used: {', '.join(unused)}"] if unused else []


def _check_columns(path: Path, header: list[str]) -> str:
    """The name of the column with the labels; a wrong header is an error."""
    found = f"{path} has the columns {', '.join(header)}"
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
            raise MentorNetError(f"{found}; {name!r} looks like {close[0]!r}: please rename it")
    return labels[0]


def _read_csv(path: Path) -> _Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file, strict=True)]
    except UnicodeDecodeError as error:
        raise MentorNetError(
            f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise MentorNetError(f"{path} is not CSV: {error}") from None
    if not lines:
        raise MentorNetError(f"{path} is empty")
    header, rows = lines[0], []
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cells):
            continue
        if len(cells) > len(header):
            raise MentorNetError(
                f"{path}, row {number} has {len(cells)} cells for {len(header)} columns; "
                "put quotes around text with commas"
            )
        rows.append((number, dict(zip_longest(header, cells, fillvalue=""))))
    return header, rows


def _read_parquet(path: Path) -> _Table:
    header = column_names(path)
    columns = read_parquet(path, [name for name in COLUMNS if name in header])
    rows = [
        (number, {name: _text(value) for name, value in zip(columns, values, strict=True)})
        for number, values in enumerate(zip(*columns.values(), strict=True), start=1)
    ]
    return header, rows


def _text(value: Any) -> str:
    """A cell as text: None and NaN become empty text, and 3.0 becomes 3."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
