"""CSV files as spreadsheets leave them.

A spreadsheet changes a file on the way: it adds a byte-order mark, writes semicolons or tabs, puts
quotes around everything or nothing, leaves blank lines at the end, and writes 12 as 12.0. All of
that is read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from mentornet.cells import CsvRow, csv_rows
from mentornet.errors import MentorNetError
from mentornet.files import open_file, reading

__all__ = ["plain", "read_rows"]

_SEPARATORS = ",;\t|"
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # the first line that Excel may write
_HEAD = 1 << 16  # bytes that hold the header


def plain(text: str) -> str:
    """The text without what a spreadsheet adds or leaves out.

    >>> plain(" 7.0"), plain("'=cat"), plain("007")
    ('7', '=cat', '7')
    """
    text = text.strip()
    text = text[1:] if text[:1] == "'" else text
    number = re.fullmatch(r"0*(\d+)(?:\.0*)?", text)
    return number[1] if number else text.strip()


def read_rows(path: Path) -> Iterator[CsvRow]:
    """The rows of a CSV file that are not blank; at least one."""
    path = path.expanduser()
    with reading(path), open_file(path) as file:
        head = file.read(_HEAD)
    if head[:4] == b"PK\x03\x04":
        raise MentorNetError(f"{path} is a workbook, not CSV; save it as CSV UTF-8")
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8-sig"  # the first is what spreadsheets call Unicode text
    start = head.decode(encoding, errors="replace")
    told = _SEPARATOR.match(start)
    header = next((line for line in start.splitlines() if line.strip()), "")
    mark = told[1] if told else max(_SEPARATORS, key=header.count)
    rows = csv_rows(path, encoding=encoding, mark=mark)
    if told:
        next(rows)
    first = next(rows, None)
    if first is None:
        raise MentorNetError(f"{path} is empty")
    yield first
    yield from rows
