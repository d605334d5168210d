"""CSV files as spreadsheets leave them.

A spreadsheet changes a file on the way: it adds a byte-order mark, writes semicolons or tabs, puts
quotes around everything or nothing, leaves blank lines at the end, and writes 12 as 12.0. All of
that is read. Text that a spreadsheet would run as a formula is written with an apostrophe before
it, which is taken away again when it is read.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from pathlib import Path

from mentornet.errors import MentorNetError

__all__ = ["Line", "guard", "plain", "read_lines"]

Line = tuple[int, list[str]]
"""The number of a line in its file, from 1, and its cells."""

_SEPARATORS = ",;\t|"
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # the first line that Excel may write
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guard(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would run it as a formula.

    >>> guard("=cmd()"), guard("cat")
    ("'=cmd()", 'cat')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain(text: str) -> str:
    """The text without what a spreadsheet adds or leaves out.

    >>> plain(" 7.0"), plain("'=cat"), plain("007")
    ('7', '=cat', '7')
    """
    text = text.strip()
    text = text[1:] if text[:1] == "'" else text
    number = re.fullmatch(r"0*(\d+)(?:\.0*)?", text)
    return number[1] if number else text.strip()


def read_lines(path: Path) -> list[Line]:
    """The lines of a CSV file that are not blank; at least one."""
    text = _text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    lines: list[Line] = []
    try:
        before = 0
        for cells in reader:
            if any(map(str.strip, cells)):
                lines.append((before + 1, cells))
            before = reader.line_num
    except csv.Error as error:
        raise MentorNetError(
            f"{path}, line {reader.line_num}: not CSV ({error}); is a quotation mark missing?"
        ) from None
    if lines and _SEPARATOR.match(text):
        del lines[0]
    if not lines:
        raise MentorNetError(f"{path} is empty")
    return lines


def _separator(text: str) -> str:
    """What stands between cells: as the first line says, or else what the header shows."""
    told = _SEPARATOR.match(text)
    if told:
        return told[1]
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(_SEPARATORS, key=header.count)


def _text(path: Path) -> str:
    """The whole file, in UTF-8 or in the UTF-16 that spreadsheets call Unicode text."""
    try:
        raw = path.expanduser().read_bytes()
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except OSError as error:
        raise MentorNetError(f"{path} cannot be read: {error.strerror}") from None
    if raw[:4] == b"PK\x03\x04":
        raise MentorNetError(f"{path} is a workbook, not CSV; save it as CSV UTF-8")
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise MentorNetError(
            f"{path} is not UTF-8 text (byte {error.start}: {error.reason}); save it as CSV UTF-8"
        ) from None
