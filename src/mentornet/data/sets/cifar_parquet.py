"""CIFAR as on the Hugging Face hub: PNG images inside `train-*` and `test-*.parquet`."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mentornet.data.files.decode import Packed
from mentornet.data.files.reading import read_images, survey
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.cifar_classes import CLASSES, grouped
from mentornet.errors import MentorNetError
from mentornet.parquet import class_names, column_names, read_parquet

__all__ = ["ParquetFiles", "find_parquet", "official_order", "read_parquet_splits"]

LABEL = {"cifar10": "label", "cifar100": "fine_label"}

BATCHES = (0x8EE293B3, 0x1BE266ED, 0x6CAE721A, 0x12C0B39C, 0xA424037D)
"""CRC-32 of the labels, one byte each, of the official batches 1 to 5 of CIFAR-10."""


class ParquetFiles(NamedTuple):
    """The files of one dataset, and the name of the column with the images."""

    train: list[Path]
    test: list[Path]
    image: str


def find_parquet(folder: Path, name: str) -> ParquetFiles | None:
    """The files of `cifar10` or `cifar100` in the folder or up to two levels below it, if any."""
    patterns = [f"{prefix}train-*.parquet" for prefix in ("", "*/", "*/*/")]
    homes = sorted({path.parent for pattern in patterns for path in folder.glob(pattern)})
    found = []
    for home in homes:
        train, test = sorted(home.glob("train-*.parquet")), sorted(home.glob("test-*.parquet"))
        image = _image_column(train[0], name)
        if test and image:
            found.append(ParquetFiles(train, test, image))
    if len(found) > 1:
        places = " and ".join(str(files.train[0].parent) for files in found)
        raise MentorNetError(f"parquet files that may be {name} are in {places}; name one of them")
    return found[0] if found else None


def read_parquet_splits(
    files: ParquetFiles, name: str, on_progress: Progress | None = None
) -> Splits:
    """The same images, labels, classes and groups as the python layout has, in the same order."""
    train, coarse = _read(files.train, files.image, name, on_progress)
    test, _ = _read(files.test, files.image, name, on_progress)
    if name == "cifar10":
        train = train.rows(official_order(train.given_label))
    return Splits(train, test) if coarse is None else grouped(Splits(train, test), coarse)


def official_order(label: Tensor) -> Tensor:
    """The index that puts the 50,000 training images of CIFAR-10 in the order of the python layout.

    The hub has the five batches in another order. Labels that go by position, as those of CIFAR-N
    do, would not fit. Images other than the official 50,000 keep their order.

    Args:
        label: `(N,)`, in the order of the files.
    """
    stay = torch.arange(len(label))
    if len(label) != 50_000:
        return stay
    blocks = label.to(torch.uint8).split(10_000)
    sums = [zlib.crc32(block.numpy().tobytes()) for block in blocks]
    if sorted(sums) != sorted(BATCHES):
        return stay
    return torch.cat([stay.split(10_000)[sums.index(batch)] for batch in BATCHES])


def _image_column(path: Path, name: str) -> str | None:
    """The column of images, or None if the file belongs to another dataset."""
    columns = column_names(path)
    image = next((column for column in ("img", "image") if column in columns), None)
    if LABEL[name] not in columns or image is None:
        return None
    named = class_names(path, LABEL[name])
    if named is None:
        return image
    # Nine in ten are enough, because CIFAR-100 on the hub spells crab as "cra".
    alike = sum(one == other for one, other in zip(named, CLASSES[name], strict=False))
    return image if len(named) == len(CLASSES[name]) and alike >= 0.9 * len(named) else None


def _read(
    paths: list[Path], image: str, name: str, on_progress: Progress | None
) -> tuple[Samples, Tensor | None]:
    """The images of one part, and their coarse labels if the files have them."""
    packed: list[Packed] = []
    labels: dict[str, list[Any]] = {LABEL[name]: [], "coarse_label": []}
    for path in paths:
        wanted = (image, *labels)
        columns = read_parquet(path, [name for name in column_names(path) if name in wanted])
        for column in (image, LABEL[name]):
            if column not in columns:
                raise MentorNetError(f"{path} has no column {column}, but other files beside it do")
        packed += [
            Packed(f"{path}, row {row}", _content(cell))
            for row, cell in enumerate(columns[image], start=1)
        ]
        for column in labels:
            labels[column] += columns.get(column, [])
    for column, values in labels.items():
        if not all(type(value) is int and 0 <= value < 100 for value in values):
            raise MentorNetError(f"{paths[0].parent}: {column} must be a class number in every row")
    if survey(packed) != (32, 3):
        raise MentorNetError(f"{paths[0].parent} must hold colour images of 32 × 32")
    pixels = read_images(packed, 32, 3, on_progress=on_progress).pixels
    coarse = labels["coarse_label"]
    return (
        Samples(pixels, torch.tensor(labels[LABEL[name]], dtype=torch.long), CLASSES[name]),
        torch.tensor(coarse) if coarse and name == "cifar100" else None,
    )


def _content(cell: Any) -> bytes:
    """The bytes in a cell, which is a struct {bytes, path}; empty bytes are refused when read."""
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    return content if isinstance(content, bytes) else b""
