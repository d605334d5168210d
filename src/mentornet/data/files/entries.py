"""Images that a folder or a table lists, which are then read all at once or streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mentornet.data.files import memory
from mentornet.data.files.reading import SMALLEST, read_images, survey
from mentornet.data.options import LoadOptions
from mentornet.data.parts import PARTS, into_splits
from mentornet.data.samples import Samples, Splits
from mentornet.data.stream.streamed import SIDE, LooseFiles, Place, Streamed, in_files
from mentornet.errors import MentorNetError, cut

__all__ = ["Entry", "read_entries"]


class Entry(NamedTuple):
    """One image in the list.

    Attributes:
        file: the file of the image, or its place in a file that has many.
        name: the name of the image for the user.
        part: one of `PARTS`.
        given_label: in 0 … K−1.
        true_label: in 0 … K−1, or None if unknown; known for all entries of a part or for none.
        row: the number of the row that has the image, from 0, if it is not a file of its own; all
            entries have one or none.
    """

    file: Path | Place
    name: str
    part: str
    given_label: int
    true_label: int | None = None
    row: int | None = None


def read_entries(
    entries: Sequence[Entry],
    classes: tuple[str, ...],
    folder: Path,
    options: LoadOptions,
    notes: Sequence[str] = (),
) -> Splits:
    """The images of all parts, with one size and one number of channels, as `into_splits` has them.

    Args:
        entries: in any order, with at least one of the part `train`.
        classes: the K class names.
        folder: the folder that the names are relative to.
        options: how to read them. The default size is what `survey` proposes for the training
            images. Images that do not fit into memory are streamed. Those that `skip_bad` leaves
            out are listed in the notes.
        notes: further lines to tell the user.
    """
    size = options.image_size
    if size is not None and size < SMALLEST:
        raise MentorNetError(f"image_size must be at least {SMALLEST} pixels, got {size}")
    entries = sorted(entries, key=lambda entry: PARTS.index(entry.part))
    if options.stream:
        return into_splits(_streamed(entries, classes, folder, size or SIDE), notes)
    proposed, channels = survey([entry.file for entry in entries if entry.part == "train"])
    side, files = size or proposed, [entry.file for entry in entries]
    needed = len(files) * channels * side**2
    if not memory.fits(needed):
        told = (
            f"{len(files):,} images of {side} × {side} pixels would take {needed / 1e9:.1f} GB of "
            "memory, too much to train in: they are streamed, which decodes them in each epoch"
        )
        return into_splits(_streamed(entries, classes, folder, side), [told, *notes])
    decoded = read_images(files, side, channels, options.skip_bad, options.on_progress)
    notes = [*notes, *(f"left out: {error}" for error in decoded.skipped)]
    readable = [entries[place] for place in decoded.kept.tolist()]
    _check_left(entries, readable, classes)
    parts = {}
    for part in PARTS:
        places = [place for place, entry in enumerate(readable) if entry.part == part]
        if places:
            block = slice(places[0], places[-1] + 1)
            parts[part] = _samples(decoded.pixels[block], readable[block], classes)
    return into_splits(parts, notes)


def _streamed(
    entries: Sequence[Entry], classes: tuple[str, ...], folder: Path, side: int
) -> dict[str, Samples]:
    parts = {}
    for part in PARTS:
        members = [entry for entry in entries if entry.part == part]
        if members:
            parts[part] = _samples(_views(members, folder.absolute(), side), members, classes)
    return parts


def _views(entries: Sequence[Entry], folder: Path, side: int) -> Streamed:
    """The images of these entries, left in their files."""
    places = [entry.file for entry in entries if isinstance(entry.file, Place)]
    if not places:
        return LooseFiles(folder, [entry.name for entry in entries], side)
    return in_files(folder, places, side)


def _samples(
    inputs: Tensor | Streamed, entries: Sequence[Entry], classes: tuple[str, ...]
) -> Samples:
    given = [entry.given_label for entry in entries]
    true = [entry.true_label for entry in entries if entry.true_label is not None]
    rows = [entry.row for entry in entries if entry.row is not None]
    return Samples(
        inputs,
        torch.tensor(given),
        classes,
        torch.tensor(true) if true else None,
        paths=None if rows else tuple(entry.name for entry in entries),
        row=torch.tensor(rows) if rows else None,
    )


def _check_left(
    entries: Sequence[Entry], readable: Sequence[Entry], classes: tuple[str, ...]
) -> None:
    """Raise if leaving out images has lost a whole part, or a class of the training part."""
    lost = {entry.part for entry in entries} - {entry.part for entry in readable}
    if lost:
        raise MentorNetError(f"none of the {', '.join(sorted(lost))} images can be read")
    learnt = {entry.given_label for entry in readable if entry.part == "train"}
    for label, name in enumerate(classes):
        if label not in learnt:
            raise MentorNetError(f"none of the training images of class {cut(name)!r} can be read")
