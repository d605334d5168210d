"""A table of images: path and label of each, and optionally its true label and split."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from mentornet.data.files.entries import Entry, read_entries
from mentornet.data.files.manifest_rows import Row, read_rows
from mentornet.data.options import LoadOptions
from mentornet.data.parts import PARTS, VALIDATION
from mentornet.data.samples import Splits
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["load_manifest"]

SPLITS = {"": "train", "train": "train", "test": "test", **dict.fromkeys(VALIDATION, "validation")}
"""The values of the column `split`, and the part that each means."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?")


def load_manifest(path: Path, options: LoadOptions | None = None) -> Splits:
    """The images that a `.csv` (UTF-8, commas) or `.parquet` file lists, one in each row.

    The columns are: `path`, absolute or relative to the folder of the manifest; `label` or
    `given_label`, the name or number of a class; optionally `true_label`; optionally `split`, which
    is train, val, validation, valid or test, and means train if it is empty. The classes are the
    labels of the training rows, sorted by value if all are whole numbers, else as text.

    True labels must be known for all rows of a split or for none. Those of training rows become
    `true_label`. A test or validation row that has one is evaluated by it. Without test rows the
    validation rows are used for testing; without either, a tenth of each training class.

    Args:
        path: the manifest.
        options: the size of the images, whether they are streamed, and so on.

    Returns:
        Splits whose `paths` are those of the manifest, with `/` as the separator.
    """
    path, options = path.expanduser(), options or LoadOptions()
    listed, notes = read_rows(path)
    rows = _one_spelling(path, _checked(listed, path.parent, skip_bad=options.skip_bad))
    if not rows:
        raise MentorNetError(f"{path} lists no images")
    parts = [_part(row) for row in rows]
    learnt = {row.label for row, part in zip(rows, parts, strict=True) if part == "train"}
    classes = _sorted_classes(learnt)
    if len(classes) < 2:
        found = f"only {cut(classes[0])!r}" if classes else "no training rows"
        raise MentorNetError(f"{path} must list at least 2 classes to train on, found {found}")
    _check_truth(rows, parts)
    numbers = {name: number for number, name in enumerate(classes)}
    entries = [
        Entry(
            path.parent / row.path,
            Path(row.path).as_posix(),
            part,
            _number(row, "label", row.label, numbers),
            _number(row, "true label", row.true_label, numbers) if row.true_label else None,
        )
        for row, part in zip(rows, parts, strict=True)
    ]
    return read_entries(entries, classes, path.parent, options, notes)


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


def _checked(rows: Iterable[Row], folder: Path, *, skip_bad: bool) -> Iterator[Row]:
    """The rows. No path, no label, a missing file, or one that is listed twice, is an error.

    `skip_bad` allows missing files.
    """
    seen: dict[str, Row] = {}
    for row in rows:
        if not row.path:
            raise MentorNetError(f"{row} has no path")
        place = os.path.normpath(folder / row.path)
        if place in seen:
            raise MentorNetError(f"{row} lists {cut(row.path)} again, after {seen[place]}")
        seen[place] = row
        if not skip_bad and not os.path.isfile(place):  # noqa: PTH113 - false for any odd path
            raise MentorNetError(
                f"{row}: there is no file {cut(row.path)} in {folder}, the folder of the "
                "manifest; set skip_bad to continue without it"
            )
        if not row.label:
            raise MentorNetError(f"{row} has no label; every image needs one")
        yield row
