"""Text in the cells of CSV tables, which a spreadsheet may open.

A spreadsheet runs text that begins with a sign such as `=` as a formula. Such text is written with
an apostrophe before it (`guard`), which is taken away when a table is read (`unguard`). Text that
already begins with apostrophes, and then such a sign, gets one more; so any text comes back as it
was, and a name such as 'tis is left alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

from mentornet.errors import MentorNetError
from mentornet.files import open_file, reading

__all__ = ["CsvRow", "csv_rows", "csv_text", "guard", "unguard"]

_SIGNS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four are wide forms of the first
_LONGEST, _BLANK = 1 << 20, 1_000_000  # characters of a line, and blank lines in a row


def guard(text: str) -> str:
    """Return the text as it is written into a cell.

    >>> guard("=cmd()"), guard("'=cmd()"), guard("'tis"), guard(" cat")
    ("'=cmd()", "''=cmd()", "'tis", "' cat")
    """
    return f"'{text}" if _needs_guard(text) else text


def unguard(cell: str) -> str:
    """Return the text that a cell holds; blanks around it do not count unless it is guarded.

    >>> unguard("'=cmd()"), unguard("''=cmd()"), unguard(" 'tis "), unguard("' cat")
    ('=cmd()', "'=cmd()", "'tis", ' cat')
    """
    return cell[1:] if cell[:1] == "'" and _needs_guard(cell[1:]) else cell.strip()


def _needs_guard(text: str) -> bool:
    """Whether a spreadsheet would run the text, or a reader would take blanks off it."""
    text = text.lstrip("'")
    return text.startswith(_SIGNS) or text != text.strip()


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV. Text is guarded; None and NaN become empty cells.

    >>> print(csv_text([["name", "loss"], ["=a, b", 0.5], ["c", None]]), end="")
    name,loss
    "'=a, b",0.5
    c,
    """
    lines: list[str] = []
    # With this end of a line, both of its signs are put in quotes where they are in a cell.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerows(map(_written, row) for row in rows)
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def _written(value: Any) -> Any:
    if isinstance(value, str):
        return guard(value)
    return "" if value is None or value != value else value


class CsvRow(NamedTuple):
    """A row of a CSV file.

    Attributes:
        number: of the row in a spreadsheet, from 1.
        line: of the file in which the row begins, from 1.
        cells: the text of each cell.
    """

    number: int
    line: int
    cells: list[str]


def csv_rows(path: Path, *, encoding: str = "utf-8-sig", mark: str = ",") -> Iterator[CsvRow]:
    """Read the rows of a CSV file that are not blank, one at a time.

    Args:
        path: the file.
        encoding: of its text.
        mark: what stands between two cells.
    """
    with reading(path, "as CSV"), open_file(path) as raw:
        text = io.TextIOWrapper(raw, encoding=encoding, newline="")
        rows = csv.reader(_lines(text), delimiter=mark, strict=True)
        before, last = 0, 0
        try:
            for number, cells in enumerate(rows, start=1):
                if any(map(str.strip, cells)):
                    yield CsvRow(number, before + 1, cells)
                    last = rows.line_num
                elif rows.line_num - last > _BLANK:
                    raise MentorNetError(f"{path} has more than {_BLANK:,} blank lines in a row")
                before = rows.line_num
        except UnicodeDecodeError as error:
            raise MentorNetError(
                f"{path} is not UTF-8 text ({error.reason}); save it as CSV UTF-8"
            ) from None
        except csv.Error as error:
            raise MentorNetError(
                f"{path}, line {rows.line_num}: not CSV ({error}); is a quotation mark missing?"
            ) from None


def _lines(file: IO[str]) -> Iterator[str]:
    while line := file.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise csv.Error("the line is too long")
        yield line
