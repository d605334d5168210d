"""What a file says of each sample beside its vector: its label, its name, its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mentornet.data.files.label_file import label_keys, read_labels
from mentornet.data.files.numbered_cells import numbered_cells
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["LabelTable", "numbered_labels", "read_label_table"]

_NAMES = ("label", "given_label", "labels", "given_labels", "y", "target", "class")
_WHOLE = re.compile(r"-?[0-9]{1,18}")


class LabelTable(NamedTuple):
    """The labels of N samples as text, and what else is known of them.

    Attributes:
        label: the given labels.
        true_label: the true labels, if the file has a column `true_label`.
        path: the names of the samples, if it has a column `path`.
        text: their texts, if it has a column `text`.
    """

    label: Sequence[str]
    true_label: Sequence[str] | None = None
    path: Sequence[str] | None = None
    text: Sequence[str] | None = None


def read_label_table(path: Path, column: str | None = None, *, count: int) -> LabelTable:
    """Read the labels of `count` samples.

    Args:
        path: a `.csv` or `.parquet` file with a row for each sample, or an array of class numbers
            in a `.npy`, `.npz` or `.pt` file.
        column: the column, or the array, that holds the labels. It is not needed if there is only
            one, or if it has a usual name such as `label`.
        count: N; another number of labels is an error.
    """
    path = path.expanduser()
    kind = path.suffix.lower()
    if kind in (".npy", ".npz", ".pt"):
        key = column or _usual(path, label_keys(path))
        return LabelTable([f"{label}" for label in read_labels(path, key, count=count).tolist()])
    if kind not in (".csv", ".parquet"):
        raise MentorNetError(
            f"labels must be in a .csv, .parquet, .npy, .npz or .pt file, got {cut(path.name)}"
        )
    return _from_columns(path, column, count)


def _from_columns(path: Path, column: str | None, count: int) -> LabelTable:
    header, rows = numbered_cells(path)
    bare = column is None and len(header) == 1 and _WHOLE.fullmatch(header[0])
    column = header[0] if bare else column or _usual(path, header)
    if column not in header:
        raise MentorNetError(
            f"{path} has no column {cut(column)!r}; {did_you_mean(column, header)}"
        )
    others = [name for name in ("true_label", "path", "text") if name in header and name != column]
    wanted = {"label": column} | {name: name for name in others}
    found: dict[str, list[str]] = {name: [] for name in wanted}
    if bare:  # a file of numbers alone, as NumPy writes it
        found["label"].append(header[0])
    for number, cells in rows:
        for name, values in found.items():
            values.append(cells.get(wanted[name], ""))
        if not found["label"][-1]:
            raise MentorNetError(f"{path}, row {number} has no label; every sample needs one")
        if len(found["label"]) > count:
            break
    _check_count(path, found["label"], count)
    known = [bool(label) for label in found.get("true_label", ())]
    if not all(known):
        raise MentorNetError(
            f"{path} has true labels for {sum(known):,} of {count:,} samples; they must be known "
            "for all or for none (what you have checked belongs into verdicts)"
        )
    return LabelTable(**found)


def _check_count(path: Path, labels: Sequence[str], count: int) -> None:
    if len(labels) != count:
        there = f"more than {count:,}" if len(labels) > count else f"{len(labels):,}"
        raise MentorNetError(
            f"{path} has {there} labels for {count:,} samples; it needs a header and a row for "
            "each sample, in their order"
        )


def _usual(path: Path, there: Collection[str]) -> str:
    """Return the only name, or the only one that labels usually have."""
    usual = [name for name in _NAMES if name in there]
    if len(there) != 1 and len(usual) != 1:
        known = cut(", ".join(map(cut, there)), 300)
        raise MentorNetError(f"{path} has several columns; say which are the labels: {known}")
    return usual[0] if usual else next(iter(there))


def numbered_labels(
    label: Sequence[str], classes: Sequence[str] | None = None, *, more: Sequence[str] = ()
) -> tuple[Tensor, tuple[str, ...]]:
    """Return labels as class numbers, `(N,)`, and the class names.

    Args:
        label: class names, or class numbers as text.
        classes: the class names in order. By default they are the labels that occur, sorted by
            value if all of them are whole numbers, else as text.
        more: labels that also name a class, if `classes` is not given.

    >>> numbered_labels(["10", "9", "10"])
    (tensor([1, 0, 1]), ('9', '10'))
    >>> numbered_labels(["1", "0"], ["cat", "dog"])
    (tensor([1, 0]), ('cat', 'dog'))
    """
    found = {*label, *more}
    numeric = all(map(_WHOLE.fullmatch, found))
    if classes is None:
        classes = sorted(found, key=int) if numeric else sorted(found)
    number = {name: place for place, name in enumerate(classes)}
    if numeric and not found <= set(number):
        number |= {f"{place}": place for place in range(len(classes))}
    for row, name in enumerate(label):
        if name not in number:
            raise MentorNetError(
                f"label {cut(name)!r} in row {row} (from 0) is none of the {len(classes)} classes; "
                f"{did_you_mean(name, classes)}"
            )
    return torch.tensor([number[name] for name in label], dtype=torch.long), tuple(classes)
