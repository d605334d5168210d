"""What somebody decided about suspect labels: the CSV file that the audit's page downloads.

Spreadsheets change such files on the way: a byte-order mark, semicolons or tabs, quotes around
everything or nothing, blank lines at the end, 12 written as 12.0. All of that is read; what
cannot be meant is an error that names the line.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean

__all__ = ["COLUMNS", "DECISIONS", "Decisions", "read_decisions"]

COLUMNS = ("index", "name", "given_label", "decision", "label")
"""As the page writes them; only `index` and `decision` must be there, and `label` to relabel."""

DECISIONS = ("keep", "relabel", "drop")

SEPARATORS = ",;\t|"
LONGEST = 60
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # the first line that Excel may write


@dataclass(frozen=True)
class Decisions:
    """M decisions, one a sample, in the order of `index`.

    Attributes:
        index: the samples, `(M,)`, int64, each once.
        decision: `keep`, `relabel` or `drop`, `(M,)`.
        label: the class to relabel to, `(M,)`, int64; −1 where nothing is relabelled.
        given_label: as the file has it, `(M,)`, int64; −1 where it does not say.
    """

    index: NDArray[np.int64]
    decision: NDArray[np.str_]
    label: NDArray[np.int64]
    given_label: NDArray[np.int64]

    def __len__(self) -> int:
        """M."""
        return len(self.index)


def read_decisions(
    path: Path,
    *,
    class_names: Sequence[str],
    count: int,
    given_label: NDArray[np.int64] | None = None,
    relabelled: NDArray[np.int64] | None = None,
) -> Decisions:
    """The decisions in a CSV file; rows without a decision are left out.

    Args:
        path: the file.
        class_names: the K classes; labels in the file are among them.
        count: N, the number of samples; an index is in 0 … N−1.
        given_label: if there, the file's given labels must agree, `(N,)`: else it belongs to
            other data.
        relabelled: what earlier decisions have made of them, `(N,)`; the file may be about these.
    """
    header, lines = _table(path)
    places = _columns(path, header)
    reader = _LineReader(tuple(class_names), count, given_label, relabelled)
    found: dict[int, tuple[str, int, int, int]] = {}
    for number, cells in lines:
        if len(cells) > len(header) and any(cells[len(header) :]):
            raise MentorNetError(
                f"{path}, line {number}: {len(cells)} cells for {len(header)} columns; "
                "put quotes around text with separators in it"
            )
        row = {name: cells[place] if place < len(cells) else "" for name, place in places.items()}
        try:
            line = reader.read(row)
        except MentorNetError as error:
            raise MentorNetError(f"{path}, line {number}: {error}") from None
        if line is None:
            continue
        index, decision, label, given = line
        before = found.setdefault(index, (decision, label, given, number))
        if before[:3] != (decision, label, given):
            raise MentorNetError(
                f"{path}, line {number}: sample {index} is to {reader.say(decision, label)} here "
                f"and to {reader.say(*before[:2])} in line {before[3]}; keep one of the two"
            )
    indices = sorted(found)
    return Decisions(
        np.array(indices, np.int64),
        np.array([found[index][0] for index in indices], np.str_),
        np.array([found[index][1] for index in indices], np.int64),
        np.array([found[index][2] for index in indices], np.int64),
    )


class _LineReader:
    """Turns the cells of a line into a decision, or raises for what they cannot mean."""

    def __init__(
        self,
        class_names: tuple[str, ...],
        count: int,
        given_label: NDArray[np.int64] | None,
        relabelled: NDArray[np.int64] | None,
    ) -> None:
        self.names = class_names
        self.numbers = {_plain(name): number for number, name in enumerate(class_names)}
        self.numbers.update({name: number for number, name in enumerate(class_names)})
        self.count = count
        self.given_label = given_label
        self.relabelled = given_label if relabelled is None else relabelled

    def read(self, row: dict[str, str]) -> tuple[int, str, int, int] | None:
        """Index, decision, new label, given label as the file says; None without a decision."""
        index_text, decision = row["index"].strip(), row["decision"].strip().lower()
        if not decision:
            return None
        index = self._index(index_text)
        if decision not in DECISIONS:
            hint = did_you_mean(_cut(decision), DECISIONS)
            raise MentorNetError(f"unknown decision {_cut(row['decision'])!r}; {hint}")
        given = self._given(index, row.get("given_label", ""))
        said = -1 if given is None or not row.get("given_label", "").strip() else given
        text = row.get("label", "")
        if decision == "drop":
            return index, decision, -1, said
        if decision == "keep":
            if text.strip() and given is not None and self._class(text, "label") != given:
                raise MentorNetError(
                    f"sample {index} is to keep the label {_cut(self.names[given])!r}, and the "
                    f"label says {_cut(text)!r}; did you mean relabel?"
                )
            return index, decision, -1, said
        if not text.strip():
            raise MentorNetError(
                f"sample {index} is to be relabelled, and label is empty; "
                "write the class it should have, or drop it"
            )
        return index, decision, self._class(text, "label"), said

    def say(self, decision: str, label: int) -> str:
        """A decision in words."""
        words = {"keep": "be kept", "drop": "be dropped"}
        return words.get(decision) or f"be relabelled {_cut(self.names[label])!r}"

    def _index(self, text: str) -> int:
        plain = re.fullmatch(r"(\d{1,18})(?:\.0*)?", text)
        if plain is None:
            raise MentorNetError(
                f"index must be a whole number, got {_cut(text)!r}; "
                "did a spreadsheet change it? Format the column as a number without decimals"
            )
        index = int(plain[1])
        if index >= self.count:
            raise MentorNetError(
                f"there is no sample {index}, only 0 to {self.count - 1}; "
                "do the decisions belong to another run?"
            )
        return index

    def _given(self, index: int, text: str) -> int | None:
        """The given label, from the file or from the data; they must not disagree."""
        known = None if self.relabelled is None else int(self.relabelled[index])
        if not text.strip():
            return known
        given = self._class(text, "given_label")
        first = None if self.given_label is None else int(self.given_label[index])
        if known is not None and given not in (known, first):
            raise MentorNetError(
                f"sample {index} is given as {_cut(self.names[given])!r}, and in the data as "
                f"{_cut(self.names[known])!r}; do the decisions belong to another run?"
            )
        return given

    def _class(self, text: str, column: str) -> int:
        """The class of that name, as it was or as a spreadsheet would change it."""
        for spelling in (text, text.strip(), _plain(text)):
            if spelling in self.numbers:
                return self.numbers[spelling]
        hint = did_you_mean(_cut(text), [_cut(name) for name in self.names])
        raise MentorNetError(f"unknown class {_cut(text)!r} in {column}; {_cut(hint, 400)}")


def _plain(name: str) -> str:
    """A name without what is lost or added in a spreadsheet.

    >>> _plain(" 7.0"), _plain("'=cat"), _plain("007")
    ('7', '=cat', '7')
    """
    name = name.strip()
    name = name[1:] if name[:1] == "'" else name
    number = re.fullmatch(r"0*(\d+)(?:\.0*)?", name)
    return number[1] if number else name.strip()


def _cut(text: str, length: int = LONGEST) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in small letters, and the lines that are not blank, each with its number."""
    text = _text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    lines: list[tuple[int, list[str]]] = []
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
        raise MentorNetError(f"{path} is empty; download the decisions again")
    return [cell.strip().lower() for cell in lines[0][1]], lines[1:]


def _separator(text: str) -> str:
    """What stands between cells: as a first line says, or else what the header shows."""
    told = _SEPARATOR.match(text)
    if told:
        return told[1]
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(SEPARATORS, key=header.count)


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


def _columns(path: Path, header: list[str]) -> dict[str, int]:
    """Where each of our columns is; others do not matter."""
    for name in COLUMNS:
        if header.count(name) > 1:
            raise MentorNetError(f"{path} has the column {name!r} twice; delete one")
    for name in ("index", "decision"):
        if name not in header:
            hint = did_you_mean(name, [_cut(found) for found in header])
            raise MentorNetError(f"{path} has no column {name!r}; {_cut(hint, 400)}")
    return {name: header.index(name) for name in COLUMNS if name in header}
