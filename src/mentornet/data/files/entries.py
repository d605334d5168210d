"""Samples that are listed, in folders or in a table, and then read all at once or streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mentornet.data.files.reading import SMALLEST, Decoded, read_images, survey
from mentornet.data.parts import PARTS, into_splits
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.stream.streamed import SIDE, LooseFiles, Streamed
from mentornet.errors import MentorNetError

__all__ = ["Entry", "read_entries"]


class Entry(NamedTuple):
    """One image that is listed.

    Attributes:
        file: where it is.
        name: what the user calls it.
        part: one of `PARTS`.
        given_label: in 0 … K−1.
        true_label: the same, where it is known; known for all entries of a part or for none.
    """

    file: Path
    name: str
    part: str
    given_label: int
    true_label: int | None = None


def read_entries(
    entries: Sequence[Entry],
    classes: tuple[str, ...],
    *,
    size: int | None = None,
    skip_bad: bool = False,
    stream: Path | None = None,
    on_progress: Progress | None = None,
    notes: Sequence[str] = (),
) -> Splits:
    """The images of all parts, at one size and with the same channels; see `into_splits`.

    Args:
        entries: in any order, at least one of `train`.
        classes: the K class names.
        size: height and width; as `survey` finds for the training images, if left out.
        skip_bad: leave out images that cannot be read, and say so in the notes.
        stream: leave the images in their files, below this folder by their names.
        on_progress: called after each image.
        notes: what the caller wants the user told as well.
    """
    if size is not None and size < SMALLEST:
        raise MentorNetError(f"image size must be at least {SMALLEST} pixels, got {size}")
    entries = sorted(entries, key=lambda entry: PARTS.index(entry.part))
    if stream is not None:
        return into_splits(_streamed(entries, classes, stream, size or SIDE), notes)
    proposed, channels = survey([entry.file for entry in entries if entry.part == "train"])
    files = [entry.file for entry in entries]
    decoded = read_images(files, size or proposed, channels, skip_bad, on_progress)
    notes = [*notes, *_told(decoded)]
    readable = [entries[place] for place in decoded.kept.tolist()]
    _check_left(entries, readable, classes)
    parts = {}
    for part in PARTS:
        places = [place for place, entry in enumerate(readable) if entry.part == part]
        if places:
            block = slice(places[0], places[-1] + 1)
            parts[part] = _images(decoded.pixels[block], readable[block], classes)
    return into_splits(parts, notes)


def _streamed(
    entries: Sequence[Entry], classes: tuple[str, ...], folder: Path, side: int
) -> dict[str, Samples]:
    parts = {}
    for part in PARTS:
        members = [entry for entry in entries if entry.part == part]
        if members:
            names = [entry.name for entry in members]
            parts[part] = _images(LooseFiles(folder.absolute(), names, side), members, classes)
    return parts


def _images(
    pixels: Tensor | Streamed, entries: Sequence[Entry], classes: tuple[str, ...]
) -> Samples:
    given = [entry.given_label for entry in entries]
    true = [entry.true_label for entry in entries if entry.true_label is not None]
    return Samples(
        pixels,
        torch.tensor(given),
        classes,
        torch.tensor(true) if true else None,
        paths=tuple(entry.name for entry in entries),
    )


def _told(decoded: Decoded) -> list[str]:
    return [f"left out: {error}" for error in decoded.skipped]


def _check_left(
    entries: Sequence[Entry], readable: Sequence[Entry], classes: tuple[str, ...]
) -> None:
    """No part, and no class of the training part, may be lost with the images left out."""
    lost = {entry.part for entry in entries} - {entry.part for entry in readable}
    if lost:
        raise MentorNetError(f"none of the {', '.join(sorted(lost))} images can be read")
    learnt = {entry.given_label for entry in readable if entry.part == "train"}
    for label, name in enumerate(classes):
        if label not in learnt:
            raise MentorNetError(f"none of the training images of class {name!r} can be read")
