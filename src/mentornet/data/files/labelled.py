"""The labels of a table's rows: which part a row belongs to, and which class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from mentornet.data.files.manifest_rows import Row
from mentornet.data.parts import PARTS, VALIDATION
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["Labelled", "labelled"]

SPLITS = {"": "train", "train": "train", "test": "test", **dict.fromkeys(VALIDATION, "validation")}
"""The values of the column `split`, and the part that each means."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?")


class Labelled(NamedTuple):
    """The labels of N rows.

    Attributes:
        rows: the rows.
        classes: the K class names: the labels of the training rows, sorted by value if all are
            whole numbers, else as text.
        parts: one of `PARTS` for each row.
        given_label: in 0 … K−1, for each row.
        true_label: in 0 … K−1, or None if unknown; known for all rows of a part or for none.
    """

    rows: Sequence[Row]
    classes: tuple[str, ...]
    parts: list[str]
    given_label: list[int]
    true_label: list[int | None]


def labelled(path: Path, rows: Iterable[Row]) -> Labelled:
    """Read the labels of the rows.

    Args:
        path: the file, for messages.
        rows: all of them have a label.
    """
    rows = _one_spelling(path, rows)
    parts = [_part(row) for row in rows]
    learnt = {row.label for row, part in zip(rows, parts, strict=True) if part == "train"}
    classes = _sorted_classes(learnt)
    if len(classes) < 2:
        found = f"only {cut(classes[0])!r}" if classes else "no training rows"
        raise MentorNetError(f"{path} must list at least 2 classes to train on, found {found}")
    _check_truth(rows, parts)
    numbers = {name: number for number, name in enumerate(classes)}
    given = [_number(row, "label", row.label, numbers) for row in rows]
    true = [
        _number(row, "true label", row.true_label, numbers) if row.true_label else None
        for row in rows
    ]
    return Labelled(rows, classes, parts, given, true)


def _part(row: Row) -> str:
    try:
        return SPLITS[row.split.lower()]
    except KeyError:
        known = [name for name in SPLITS if name]
        raise MentorNetError(
            f"{row} has the unknown split {cut(row.split)!r}; {did_you_mean(row.split, known)}"
        ) from None


def _one_spelling(path: Path, rows: Iterable[Row]) -> list[Row]:
    """The rows with 1.0 as 1, if all numbers among their labels are whole.

    Other labels that are the same number, such as 1 and 01, are an error.
    """
    rows = list(rows)
    labels = sorted({row.label for row in rows} | {row.true_label for row in rows})
    numbers = {label: Decimal(label) for label in labels if _NUMBER.fullmatch(label)}
    names = dict(zip(labels, labels, strict=True))
    if all(value == value.to_integral_value() for value in numbers.values()):
        names |= {label: label.partition(".")[0] for label in numbers}
    spelled: dict[Decimal, str] = {}
    for label, value in numbers.items():
        if spelled.setdefault(value, names[label]) != names[label]:
            raise MentorNetError(
                f"{path} has the classes {cut(spelled[value])!r} and {cut(names[label])!r}, "
                "which are the same number; spell it in one way"
            )
    return [replace(row, label=names[row.label], true_label=names[row.true_label]) for row in rows]


def _sorted_classes(labels: Iterable[str]) -> tuple[str, ...]:
    """The labels sorted by value if all are whole numbers, else as text."""
    names = sorted(labels)
    if all(_NUMBER.fullmatch(name) and "." not in name for name in names):
        names.sort(key=int)
    return tuple(names)


def _number(row: Row, what: str, name: str, numbers: dict[str, int]) -> int:
    try:
        return numbers[name]
    except KeyError:
        raise MentorNetError(
            f"{row} has the {what} {cut(name)!r}, which no training row has as its label; "
            f"{did_you_mean(name, numbers)}"
        ) from None


def _check_truth(rows: list[Row], parts: list[str]) -> None:
    for wanted in PARTS:
        members = [row for row, part in zip(rows, parts, strict=True) if part == wanted]
        known = [row for row in members if row.true_label]
        if known and len(known) < len(members):
            missing = next(row for row in members if not row.true_label)
            raise MentorNetError(
                f"{missing} has no true label, but {len(known)} of {len(members)} {wanted} rows "
                "have one; true labels must be known for all rows of a split or for none (verified "
                "rows can be a split of their own, val)"
            )
