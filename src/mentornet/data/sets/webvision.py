"""WebVision 1.0 (Li et al. 2017) from its official folders and file lists.

info/synsets.txt                 1,000 lines: WordNet id, name
info/queries_synsets_map.txt     query number, class number from 1
info/train_filelist_google.txt   google/q0001/….jpg 0
info/train_filelist_flickr.txt   flickr/q0001/….jpg 0
info/val_filelist.txt            val000001.jpg 0
google/, flickr/, val_images_256/
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from mentornet.data.options import LoadOptions
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.dataset import Dataset
from mentornet.data.sets.imagenet import imagenet_validation
from mentornet.data.sets.places import folder_of
from mentornet.data.stream.streamed import SIDE, LooseFiles
from mentornet.errors import MentorNetError, cut
from mentornet.files import read_lines
from mentornet.names import is_count

__all__ = ["MINI", "WEBVISION", "WEBVISION_MINI", "load_webvision"]

MINI = 50
"""Number of classes of the small subset, which has the images from Google only (§5.3)."""

_TRIED = 200  # files of a list that must exist before work starts


class _Line(NamedTuple):
    name: str
    label: int
    number: int


def load_webvision(
    folder: Path,
    *,
    mini: bool = False,
    imagenet: Path | None = None,
    side: int = SIDE,
    on_progress: Progress | None = None,
) -> Splits:
    """The images with the labels of the queries that found them, left in their files.

    The test images are the validation images of WebVision. If the folder of ImageNet is given, its
    validation images are tested on too. A training label that differs from the class of its
    query, according to the query map, is an error.

    Args:
        folder: the folder that holds `info/`.
        mini: only the images from Google of the first 50 classes.
        imagenet: the folder of ImageNet.
        side: height and width of the views.
        on_progress: called after each list.
    """
    folder = folder.expanduser().absolute()
    info = folder / "info"
    if not info.is_dir():
        raise MentorNetError(f"{folder} has no folder info with the file lists of WebVision")
    every = _synsets(info / "synsets.txt")
    classes = every[:MINI] if mini else every
    parts = ("google",) if mini else ("google", "flickr")
    query_class = _queries(info / "queries_synsets_map.txt", len(every))
    names: list[str] = []
    labels: list[int] = []
    for place, part in enumerate(parts):
        path = info / f"train_filelist_{part}.txt"
        lines = _lines(path, len(every))
        home = _home(folder, [part, ""], path, lines)
        for line in lines:
            if query_class:
                _check_query(path, line, query_class)
            if line.label < len(classes):
                names.append(f"{home}{line.name}")
                labels.append(line.label)
        if on_progress is not None:
            on_progress("reading lists", place + 1, len(parts))
    train = _images(folder, names, labels, classes, side)
    missing = sorted(set(range(len(classes))) - set(labels))
    if missing:
        raise MentorNetError(f"{info} lists no training images of class {classes[missing[0]]}")
    path = info / "val_filelist.txt"
    lines = _lines(path, len(every))
    home = _home(folder, ["val_images_256", "val_images", "val", ""], path, lines)
    tested = [line for line in lines if line.label < len(classes)]
    test = _images(
        folder, [f"{home}{line.name}" for line in tested], [line.label for line in tested],
        classes, side,
    )  # fmt: skip
    further = {}
    if imagenet is not None:
        further["imagenet"] = imagenet_validation(imagenet, classes, side=side)
    return Splits(train, test, further=further)


def _images(
    folder: Path, names: list[str], labels: list[int], classes: tuple[str, ...], side: int
) -> Samples:
    pixels = LooseFiles(folder, names, side)
    return Samples(pixels, torch.tensor(labels), classes, paths=pixels.names)


def _synsets(path: Path) -> tuple[str, ...]:
    classes = tuple(line.split(" ")[0] for line in read_lines(path) if line.strip())
    if len(classes) < 2 or len(set(classes)) < len(classes):
        raise MentorNetError(f"{path} must name each class once, one in a line")
    return classes


def _queries(path: Path, classes: int) -> dict[int, int]:
    """The class of each query; an empty dict if there is no map."""
    if not path.is_file():
        return {}
    found = {}
    for number, line in enumerate(read_lines(path), 1):
        words = line.split()
        if len(words) != 2 or not all(map(is_count, words)):
            raise MentorNetError(f"{path}:{number} must be a query and a class number: {line!r}")
        query, label = int(words[0]), int(words[1]) - 1
        if not 0 <= label < classes:
            raise MentorNetError(f"{path}:{number}: classes are 1–{classes}, got {words[1]}")
        found[query] = label
    return found


def _lines(path: Path, classes: int) -> list[_Line]:
    found = []
    for number, text in enumerate(read_lines(path), 1):
        if not text.strip():
            continue
        name, _, label = text.strip().rpartition(" ")
        if not name or not is_count(label):
            raise MentorNetError(f"{path}:{number} must be a file and a class number: {text!r}")
        if int(label) >= classes:
            raise MentorNetError(f"{path}:{number}: classes are 0–{classes - 1}, got {label}")
        if name.startswith("/") or ".." in name.split("/"):
            raise MentorNetError(f"{path}:{number} leads out of the folder: {name!r}")
        found.append(_Line(name, int(label), number))
    if not found:
        raise MentorNetError(f"{path} lists no images")
    return found


def _home(folder: Path, places: list[str], path: Path, lines: list[_Line]) -> str:
    """The prefix of the names in a list. Some of the files are checked here, others when read."""
    prefixes = [f"{place}/" if place else "" for place in places]
    tried = lines[:: max(1, len(lines) // _TRIED)]
    for prefix in prefixes:
        if _is_file(folder, prefix, tried[0]):
            break
    for line in tried:
        if not _is_file(folder, prefix, line):
            raise MentorNetError(
                f"{path}:{line.number} names {cut(line.name)}, but there is no such file in "
                f"{' or '.join(str(folder / place) for place in places)}"
            )
    return prefix


def _is_file(folder: Path, prefix: str, line: _Line) -> bool:
    return os.path.isfile(folder / f"{prefix}{line.name}")  # noqa: PTH113 - false for any odd name


def _check_query(path: Path, line: _Line, query_class: dict[int, int]) -> None:
    match = re.search(r"(?:^|/)q([0-9]{1,18})/", line.name)
    known = None if match is None else query_class.get(int(match[1]))
    if known is not None and known != line.label:
        raise MentorNetError(
            f"{path}:{line.number}: {line.name} was found by a query of class {known}, but its "
            f"label is {line.label}; do the lists belong together?"
        )


def _load(options: LoadOptions, *, mini: bool) -> Splits:
    imagenet = options.imagenet
    if imagenet == Path("imagenet") and not imagenet.exists():
        imagenet = folder_of("imagenet")
    return load_webvision(
        options.folder or folder_of("webvision"), mini=mini, imagenet=imagenet,
        side=options.image_size or SIDE, on_progress=options.on_progress,
    )  # fmt: skip


_OPTIONS = ("folder", "image_size", "skip_bad", "stream", "imagenet")

WEBVISION = Dataset(
    "webvision",
    "Photographs of WebVision 1.0 with labels from the web. They are read by the official lists in "
    "`info/`, in `folder` or in `webvision` inside MENTORNET_DATA. With `imagenet`, students are "
    "tested on the images of ImageNet too.",
    partial(_load, mini=False), shape=(3, SIDE, SIDE), classes=1_000, count=2_439_574,
    has_clean_labels=False, streamed=True, options=_OPTIONS,
)  # fmt: skip

WEBVISION_MINI = Dataset(
    "webvision-mini", f"The photographs of WebVision from Google, of the first {MINI} classes.",
    partial(_load, mini=True), shape=(3, SIDE, SIDE), classes=MINI, count=65_944,
    has_clean_labels=False, streamed=True, options=_OPTIONS,
)  # fmt: skip
