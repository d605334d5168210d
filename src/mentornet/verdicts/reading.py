"""Reads verdicts from a CSV file, in every spelling that people and our own tools use.

A row names its sample by `index` or `path`. It says `decision` (keep, relabel or drop) and the
`label` to relabel to, as the audit's page writes it; or `is_correct`, `true_label`, or both. A file
that only names samples lists right labels. Whatever cannot be meant is an error with its line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from torch import Tensor

from mentornet.cells import unguard
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean
from mentornet.verdicts.spreadsheet import plain, read_rows
from mentornet.verdicts.verdicts import Verdicts

__all__ = ["read_verdicts"]

_SAMPLE = ("index", "path")
_SAYS = ("decision", "is_correct", "true_label")
_KNOWN = (*_SAMPLE, *_SAYS, "name", "given_label", "label")
_ROWS, _MORE = 10, 1_000  # rows that a file may have for each sample, and beside that
_DECISIONS = ("keep", "relabel", "drop")
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_verdicts(
    file: str | Path,
    *,
    given_label: Tensor,
    class_names: Sequence[str],
    true_label: Tensor | None = None,
    paths: Sequence[str] | None = None,
    elsewhere: Collection[str] = (),
    others: int = 0,
    earlier: Verdicts | None = None,
) -> Verdicts:
    """The verdicts in a CSV file, sorted by sample.

    Args:
        file: the file.
        given_label: the label of every sample in the data, `(N,)`. If the file says what a label
            was, it must agree.
        class_names: the K classes, by which the file calls labels.
        true_label: the right labels where they are known, `(N,)`; a file that only names samples
            is then compared with these.
        paths: the path of every sample, where samples are files.
        elsewhere: paths that are known but not trained on, such as those held out for testing;
            rows that name them are passed over.
        others: how many samples are numbered after these N, but not trained on; rows that name them
            are passed over, too.
        earlier: what files before this one said. This file may be about the labels that they made.
    """
    file = Path(file)
    rows = read_rows(file)
    first = next(rows)
    header = [cell.strip().lower() for cell in first.cells]
    if len(header) == 1 and re.fullmatch(r"-?\d+(\.0*)?", header[0]):
        rows, header = chain([first], rows), ["index"]
    places = _columns(file, header)
    numbers = {name: at for at, name in enumerate(paths or ())} if "path" in places else {}
    reader = _RowReader(
        given_label, tuple(class_names), true_label, numbers, elsewhere, others,
        {} if earlier is None
        else dict(zip(earlier.index.tolist(), earlier.true_label.tolist(), strict=True)),
    )  # fmt: skip
    found: dict[int, tuple[int, int]] = {}
    number = 0
    for count, (_, number, cells) in enumerate(rows):
        if count > _ROWS * len(given_label) + _MORE:
            raise MentorNetError(f"{file} has far more rows than there are samples")
        try:
            if len(cells) > len(header) and any(cells[len(header) :]):
                raise MentorNetError(
                    f"{len(cells)} cells for {len(header)} columns; "
                    "put quotes around text with separators in it"
                )
            row = {name: cells[at] if at < len(cells) else "" for name, at in places.items()}
            said = reader.read(row)
            if said is None:
                continue
            sample, right = said
            before, line = found.setdefault(sample, (right, number))
            if before != right:
                raise MentorNetError(
                    f"sample {sample} is to {reader.say(sample, right)} here and to "
                    f"{reader.say(sample, before)} in line {line}; keep one of the two"
                )
        except MentorNetError as error:
            raise MentorNetError(f"{file}, line {number}: {error}") from None
    if not number and "decision" not in places:
        raise MentorNetError(f"{file} lists no samples")
    if reader.passed and not found:
        raise MentorNetError(f"{file} names no sample that is trained on")
    return Verdicts.of({sample: right for sample, (right, _) in found.items()}, given_label)


def _columns(file: Path, header: list[str]) -> dict[str, int]:
    """Where each known column is. Others do not matter, unless they look misspelt."""
    for name in _KNOWN:
        if header.count(name) > 1:
            raise MentorNetError(f"{file} has the column {cut(name)!r} twice; delete one")
    lacking = [name for name in _KNOWN if name not in header]
    for name in header:
        close = difflib.get_close_matches(name, lacking, n=1, cutoff=0.85)
        if name not in _KNOWN and close:
            raise MentorNetError(
                f"{file} has a column {cut(name)!r}; did you mean {close[0]!r}? Rename it"
            )
    if not set(_SAMPLE) & set(header):
        raise MentorNetError(f"{file} has no column index or path; it has {_listed(header)}")
    silent = set(header) <= {*_SAMPLE, "name", "given_label"}
    if not set(_SAYS) & set(header) and not silent:
        raise MentorNetError(
            f"{file} has no column decision, is_correct or true_label; it has {_listed(header)}"
        )
    return {name: header.index(name) for name in _KNOWN if name in header}


def _listed(header: list[str]) -> str:
    return cut(", ".join(map(cut, header)), 400)


@dataclass
class _RowReader:
    """Turns a row into a sample and its right label, or raises for what it cannot mean.

    Attributes:
        given_label: of every sample in the data, `(N,)`.
        names: the K classes.
        true_label: `(N,)`, where it is known.
        numbers: the number of the sample at each path.
        elsewhere: paths that are passed over.
        others: how many numbers from N on are passed over.
        current: the label that earlier files have given to a sample, −1 if they dropped it.
        passed: how many rows were passed over.
    """

    given_label: Tensor
    names: tuple[str, ...]
    true_label: Tensor | None
    numbers: Mapping[str, int]
    elsewhere: Collection[str]
    others: int
    current: Mapping[int, int]
    passed: int = 0

    def __post_init__(self) -> None:
        self.classes = {plain(name): number for number, name in enumerate(self.names)}
        self.classes.update({name: number for number, name in enumerate(self.names)})
        self.numbered = any(name.isdecimal() for name in self.names)

    def read(self, row: Mapping[str, str]) -> tuple[int, int] | None:
        """The sample and its right label, −1 if that is only known to be another; None to go on."""
        silent = not any(row.get(name, "").strip() for name in _SAYS)
        if silent and "decision" in row:
            return None  # nobody has decided yet
        sample = self._sample(row)
        if sample is None:
            return None
        if not silent:
            return sample, self._right(sample, row)
        if any(name in row for name in _SAYS):
            raise MentorNetError("the row does not say whether the label is right")
        labels = self.given_label if self.true_label is None else self.true_label
        return sample, int(labels[sample])

    def say(self, sample: int, right: int) -> str:
        """A verdict in words."""
        if right == int(self.given_label[sample]):
            return "be kept"
        return "be dropped" if right < 0 else f"be relabelled {cut(self.names[right])!r}"

    def _sample(self, row: Mapping[str, str]) -> int | None:
        by_path = None
        if row.get("path", "").strip():
            text = row["path"]
            spellings = (unguard(text), text, text.strip(), text.strip().removeprefix("'"))
            by_path = next((self.numbers[one] for one in spellings if one in self.numbers), None)
            if by_path is None and any(one in self.elsewhere for one in spellings):
                self.passed += 1
                return None
            if by_path is None:
                hint = "" if self.numbers else "; this data has no paths, use index"
                raise MentorNetError(f"unknown sample {cut(text)!r}{hint}")
        if "index" not in row or (by_path is not None and not row["index"].strip()):
            if by_path is None:
                raise MentorNetError("path is empty")
            return by_path
        index = self._index(row["index"].strip())
        if index >= len(self.given_label):
            self.passed += 1
            return None
        if by_path not in (None, index):
            raise MentorNetError(f"index is {index}, but the path is that of sample {by_path}")
        return index

    def _index(self, text: str) -> int:
        number = re.fullmatch(r"(\d{1,18})(?:\.0*)?", text)
        if number is None:
            raise MentorNetError(
                f"index must be a whole number, got {cut(text)!r}; "
                "did a spreadsheet change it? Format the column as a number without decimals"
            )
        count = len(self.given_label)
        if int(number[1]) >= count + self.others:
            raise MentorNetError(
                f"there is no sample {number[1]}, only 0 to {count - 1}; "
                "do the verdicts belong to another run?"
            )
        return int(number[1])

    def _right(self, sample: int, row: Mapping[str, str]) -> int:
        """The right label of a sample. All that the row says of it must agree."""
        word = plain(row.get("is_correct", "")).lower()
        if word and word not in _WORDS:
            raise MentorNetError(f"is_correct must be true or false, got {cut(word)!r}")
        about = self._label_in_question(sample, row)
        decision, right = row.get("decision", "").strip().lower(), None
        if decision:
            right = self._decided(sample, decision, about, row)
        if row.get("true_label", "").strip():
            label = self._class(row["true_label"], "true_label")
            if right not in (None, label):
                raise MentorNetError(
                    f"decision is {decision}, but the given label is {cut(self.names[about])!r} "
                    f"and true_label {cut(row['true_label'])!r}"
                )
            right = label
        if word and right is not None and _WORDS[word] != (right == about):
            label_text = "not known" if right < 0 else repr(cut(self.names[right]))
            said = f"decision {decision}" if decision else f"true_label {label_text}"
            raise MentorNetError(
                f"is_correct is {word}, but the given label is {cut(self.names[about])!r} "
                f"and {said}"
            )
        return (about if _WORDS[word] else -1) if right is None else right

    def _decided(self, sample: int, decision: str, about: int, row: Mapping[str, str]) -> int:
        if decision not in _DECISIONS:
            hint = did_you_mean(cut(decision), _DECISIONS)
            raise MentorNetError(f"unknown decision {cut(row['decision'])!r}; {hint}")
        if decision == "drop":
            return -1
        text = row.get("label", "")
        if decision == "keep":
            if text.strip() and self._class(text, "label") != about:
                raise MentorNetError(
                    f"sample {sample} is to keep the label {cut(self.names[about])!r}, and the "
                    f"label says {cut(text)!r}; did you mean relabel?"
                )
            return about
        column = "label" if text.strip() else "true_label"
        if not row.get(column, "").strip():
            raise MentorNetError(
                f"sample {sample} is to be relabelled, and label is empty; "
                "write the class it should have, or drop it"
            )
        return self._class(row[column], column)

    def _label_in_question(self, sample: int, row: Mapping[str, str]) -> int:
        """The label that the row is about: the one in the data, or what earlier files made of it.

        A row that does not name it may say whether the label in the data is correct, or that a
        label is to be kept as it now is.
        """
        given = int(self.given_label[sample])
        current = self.current.get(sample, given)
        current = given if current < 0 else current
        text = row.get("given_label", "")
        if not text.strip():
            return given if row.get("is_correct", "").strip() else current
        about = self._class(text, "given_label")
        if about not in (given, current):
            raise MentorNetError(
                f"sample {sample} is given as {cut(self.names[about])!r}, and in the data as "
                f"{cut(self.names[current])!r}; do the verdicts belong to another run?"
            )
        return about

    def _class(self, text: str, column: str) -> int:
        """The class of that name, as it was or as a spreadsheet would change it, or by number."""
        for spelling in (unguard(text), text, text.strip(), plain(text)):
            if spelling in self.classes:
                return self.classes[spelling]
        number = plain(text)  # where classes are called by numbers, a number is a name, or wrong
        if not self.numbered and re.fullmatch(r"\d{1,9}", number) and int(number) < len(self.names):
            return int(number)
        hint = did_you_mean(cut(text), [cut(name) for name in self.names])
        raise MentorNetError(f"unknown class {cut(text)!r} in {column}; {cut(hint, 400)}")
