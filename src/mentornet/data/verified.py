"""Verified samples: which labels somebody has checked, and what was found."""

from __future__ import annotations

import csv
from collections.abc import Collection
from pathlib import Path

import torch
from torch import Tensor

from mentornet.data.samples import Samples
from mentornet.errors import MentorNetError
from mentornet.names import check_keys, did_you_mean
from mentornet.randomness import generator

__all__ = ["draw_verified", "read_verified"]

_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_COLUMNS = ("index", "path", "is_correct", "true_label")


def draw_verified(images: Samples, count: int, *, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Samples drawn at random whose labels count as verified, and what was found of each.

    Returns:
        which samples, `(count,)` and rising, whether each given label is correct, boolean, and the
        right labels.
    """
    if images.true_label is None:
        raise MentorNetError(
            "--clean-count needs true labels, which this data does not have; check some labels "
            "and list them with --clean FILE"
        )
    if count > len(images):
        raise MentorNetError(f"--clean-count is {count}, but there are {len(images)} samples")
    order = torch.randperm(len(images), generator=generator(seed))
    index = order[:count].sort().values
    right = images.true_label[index]
    return index, images.given_label[index] == right, right


def read_verified(
    path: Path, images: Samples, elsewhere: Collection[str] = ()
) -> tuple[Tensor, Tensor, Tensor]:
    """The verified samples in a CSV file, whether each given label is correct, and the right ones.

    A row names a sample by `index` or `path`, and says `is_correct` (true or false), its
    `true_label` (a class by name or number), or both. Where the data has true labels, naming the
    sample is enough; and a file of plain numbers, one a line, needs no header. The right label is
    −1 where a label is wrong and nobody says what it should be.

    Args:
        path: the file.
        images: the training images.
        elsewhere: paths that are known but not trained on, such as images held out for testing;
            rows that name them are passed over.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except UnicodeDecodeError:
        raise MentorNetError(f"{path} is not a text file") from None
    first = 2
    if lines and lines[0].strip().lstrip("-").isdecimal():
        lines, first = ["index", *lines], 1
    try:
        rows = list(csv.DictReader(lines))
    except csv.Error as error:
        raise MentorNetError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise MentorNetError(f"{path} lists no samples")
    check_keys((key for key in rows[0] if key is not None), _COLUMNS, f"{path} has a column")
    if ("index" in rows[0]) == ("path" in rows[0]):
        raise MentorNetError(f"{path} must have a column index or path, and not both")
    places = {} if images.paths is None else {name: at for at, name in enumerate(images.paths)}
    found: dict[int, tuple[bool, int]] = {}
    for number, row in enumerate(rows, start=first):
        where = f"{path}, line {number}"
        if row.get("path") in elsewhere:
            continue
        at = _sample(row, images, places, where)
        if at in found:
            raise MentorNetError(
                f"{where}: sample {row.get('index') or row['path']} is listed twice"
            )
        found[at] = _verdict(row, at, images, where)
    if not found:
        raise MentorNetError(f"{path} names no sample that is trained on")
    index = torch.tensor(list(found), dtype=torch.long).sort()
    verdicts = torch.tensor(list(found.values()), dtype=torch.long)[index.indices]
    return index.values, verdicts[:, 0].bool(), verdicts[:, 1].contiguous()


def _sample(row: dict[str, str], images: Samples, places: dict[str, int], where: str) -> int:
    if "path" in row:
        if row["path"] not in places:
            raise MentorNetError(
                f"{where}: unknown sample {row['path']!r}"
                + ("; this data has no paths, use index" if not places else "")
            )
        return places[row["path"]]
    try:
        at = int(row["index"] or "")
    except ValueError:
        raise MentorNetError(
            f"{where}: index must be a whole number, got {row['index']!r}"
        ) from None
    if not 0 <= at < len(images):
        raise MentorNetError(f"{where}: unknown sample {at}; there are 0–{len(images) - 1}")
    return at


def _verdict(row: dict[str, str], at: int, images: Samples, where: str) -> tuple[bool, int]:
    """Whether the given label is right, and which is, −1 if that is not said."""
    given = int(images.given_label[at])
    name = (row.get("true_label") or "").strip()
    label = _class(name, images.classes, where) if name else -1
    word = (row.get("is_correct") or "").strip().lower()
    if "is_correct" in row and (word or not name):
        if word not in _WORDS:
            raise MentorNetError(f"{where}: is_correct must be true or false, got {word!r}")
        right = _WORDS[word]
        if name and right != (label == given):
            raise MentorNetError(
                f"{where}: is_correct is {word}, but the given label is "
                f"{images.classes[given]!r} and true_label {name!r}"
            )
        return right, given if right else label
    if "true_label" in row:
        if not name:
            raise MentorNetError(f"{where}: true_label is empty")
        return label == given, label
    if images.true_label is None:
        raise MentorNetError(
            f"{where} says not whether the label is right; add a column is_correct or true_label"
        )
    label = int(images.true_label[at])
    return label == given, label


def _class(name: str, classes: tuple[str, ...], where: str) -> int:
    if name in classes:
        return classes.index(name)
    numbered = any(other.isdecimal() for other in classes)  # then a number is a name, or wrong
    if name.isdecimal() and int(name) < len(classes) and not numbered:
        return int(name)
    raise MentorNetError(f"{where}: unknown class {name!r}; {did_you_mean(name, classes)}")
