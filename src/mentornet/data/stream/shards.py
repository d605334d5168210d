"""A dataset in shards: the tar files of a WebDataset, with an index of all samples.

    shards.json      classes, parts, shape of the images, hashes of the shards
    index.parquet    one row for each sample: part, shard, offset, size, labels, path
    train-000000.tar, train-000001.tar, …, test-000000.tar, …

Any WebDataset reader can read the tar files. With the index we read any sample directly, so an
epoch has the same random order, bit for bit, as with loose files. Shards that were made by other
programs have no such index, and are searched through once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.data.files.decode import UnreadableImage, opened, quiet
from mentornet.data.files.reading import read_images
from mentornet.data.parts import VALIDATION, into_splits
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.stream.shard_index import Table, read_index
from mentornet.data.stream.streamed import SIDE, InShards, read_place
from mentornet.data.stream.tar_scan import scan
from mentornet.errors import MentorNetError, cut
from mentornet.files import read_json
from mentornet.schema import typed

__all__ = ["FORMAT", "INDEX", "PLAN", "has_shards", "load_shards"]

PLAN, INDEX, FORMAT = "shards.json", "index.parquet", 1

_TRIED = 1_000  # images whose size is compared with the plan
_MOST, _LONGEST = 1_000_000, 1_000  # classes that are numbers, and characters of one that is a name


def has_shards(folder: Path) -> bool:
    """Whether the folder holds shards."""
    if (folder / PLAN).is_file():
        return True
    return any(folder.glob("*.tar")) and not any(path.is_dir() for path in folder.iterdir())


def load_shards(
    folder: Path, *, side: int | None = None, on_progress: Progress | None = None
) -> Splits:
    """The parts of a dataset in shards: streamed, or in memory if they were so before packing.

    Args:
        folder: the folder of the shards.
        side: height and width of the views of streamed images.
        on_progress: called while shards without an index are searched, and while images are read.
    """
    folder = folder.expanduser().absolute()
    if (folder / PLAN).is_file():
        plan = _read_plan(folder)
        table = read_index(folder / INDEX)
    else:
        plan, table = _searched(folder, on_progress)
    if side is not None and not plan.streamed:
        raise MentorNetError(
            f"the setting image_size has no meaning for {folder}: its images have one size"
        )
    _check_places(folder, plan.shards, table)
    parts = {
        part: _samples(folder, plan, table, part, side or SIDE, on_progress)
        for part in dict.fromkeys(table["part"].tolist())
    }
    if "train" not in parts:
        raise MentorNetError(
            "the shards have no training part; its files must be called train-….tar"
        )
    return into_splits(parts)


@dataclass(frozen=True)
class Plan:
    """What is read of `shards.json`.

    Attributes:
        shards: the names of the tar files.
        classes: the K class names.
        streamed: whether the images stay in the shards.
        shape: (C, H, W) of images that are read into memory.
        groups: the superclass of each class.
    """

    shards: list[str]
    classes: list[str]
    streamed: bool
    shape: list[int] | None = None
    groups: list[int] | None = None


def _read_plan(folder: Path) -> Plan:
    path = folder / PLAN
    content = read_json(path)
    if content.get("format") != FORMAT or type(content["format"]) is not int:
        raise MentorNetError(
            f"{path} has format {cut(repr(content.get('format')))}, but this version reads "
            f"format {FORMAT}; pack the data again"
        )
    if not (folder / INDEX).is_file() or "shards" not in content:
        raise MentorNetError(
            f"{folder} was not packed to the end; run the same mentornet shards command again"
        )
    plan = typed(Plan, content, f"{path}")
    for name in plan.shards:
        if name != Path(name).name or name in ("", ".", ".."):
            raise MentorNetError(f"{path}: {cut(name)!r} is not the name of a file in its folder")
    if len(set(plan.classes)) < len(plan.classes):
        raise MentorNetError(f"{path} names a class twice")
    if plan.groups and (len(plan.groups) != len(plan.classes) or not _are_small(plan.groups)):
        raise MentorNetError(f"{path}: groups must have the superclass of each class, or −1")
    if not plan.streamed and not _is_shape(plan.shape):
        raise MentorNetError(
            f"{path}: shape must be 1 or 3 channels, and a height and a width that are the same"
        )
    return plan


def _are_small(numbers: list[int]) -> bool:
    return all(-1 <= number < 1 << 31 for number in numbers)


def _is_shape(shape: list[int] | None) -> bool:
    return (
        shape is not None
        and len(shape) == 3
        and shape[0] in (1, 3)
        and 1 <= shape[1] == shape[2] <= 1 << 14
    )


def _samples(
    folder: Path,
    plan: Plan,
    table: Table,
    part: str,
    side: int,
    on_progress: Progress | None,
) -> Samples:
    rows = table["part"] == part
    column = {name: torch.from_numpy(table[name][rows]) for name in ("shard", "offset", "size")}
    streamed = InShards(
        folder, plan.shards, column["shard"], column["offset"], column["size"], side
    )
    true = table["true_label"][rows]
    paths = table["path"][rows].tolist()
    return Samples(
        streamed if plan.streamed else _in_memory(streamed, plan, on_progress),
        torch.from_numpy(table["given_label"][rows]),
        tuple(plan.classes),
        true_label=torch.from_numpy(true) if (true >= 0).all() else None,
        groups=torch.tensor(plan.groups) if plan.groups else None,
        paths=None if None in paths else tuple(paths),
    )


def _in_memory(streamed: InShards, plan: Plan, on_progress: Progress | None) -> Tensor:
    assert plan.shape is not None  # `_read_plan` has checked it
    channels, side, _ = plan.shape
    packed = [read_place(place) for place in streamed.places(range(len(streamed)))]
    with quiet():
        for source in packed[:: max(1, len(packed) // _TRIED)]:
            with opened(source) as image:
                found = (len(image.getbands()), image.height, image.width)
            if found != (channels, side, side):
                raise MentorNetError(
                    f"{PLAN} states images of {channels} × {side} × {side}, but {source} is "
                    f"{' × '.join(map(str, found))}"
                )
    return read_images(packed, side, channels, on_progress=on_progress).pixels


def _check_places(folder: Path, shards: list[str], table: Table) -> None:
    """Raise if a shard is missing or too short, before work starts."""
    numbers = table["shard"]
    if len(numbers) and int(numbers.max()) >= len(shards):
        raise MentorNetError(
            f"{folder / PLAN} names fewer shards than {INDEX}; pack the data again"
        )
    for number, name in enumerate(shards):
        path = folder / name
        if not path.is_file():
            raise MentorNetError(f"{path} is missing")
        length, mine = path.stat().st_size, numbers == number
        if (table["size"][mine] > length - table["offset"][mine]).any():
            raise UnreadableImage(f"{path}", f"it is cut short; it has only {length} bytes")


def _searched(folder: Path, on_progress: Progress | None) -> tuple[Plan, Table]:
    """The plan and the index of shards that were made by another program."""
    shards = sorted(path.name for path in folder.glob("*.tar"))
    rows: list[tuple[str, int, int, int, str, str | None, str]] = []
    for number, name in enumerate(shards):
        for member in scan(folder / name):
            place = f"{folder / name}: {member.key}"
            given = _label(place, member.about.get("given_label", member.about.get("label")))
            if given is None:
                raise MentorNetError(
                    f"{place} has no label, neither in a .cls nor as given_label in a .json"
                )
            true = _label(place, member.about.get("true_label"))
            rows.append((_part(name), number, member.offset, member.size, given, true, member.key))
        if on_progress is not None:
            on_progress("searching shards", number + 1, len(shards))
    labels = {row[4] for row in rows} | {row[5] for row in rows if row[5] is not None}
    classes, numbers = _classes(folder, labels)
    columns = list(zip(*rows, strict=True)) or [()] * 7
    table = {
        "part": np.array(columns[0], object),
        "shard": np.array(columns[1], np.int64),
        "offset": np.array(columns[2], np.int64),
        "size": np.array(columns[3], np.int64),
        "given_label": np.array([numbers[name] for name in columns[4]], np.int64),
        "true_label": np.array([numbers.get(name, -1) for name in columns[5]], np.int64),
        "path": np.array(columns[6], object),
    }
    return Plan(shards, classes, streamed=True), table


def _part(shard: str) -> str:
    word = shard.partition("-")[0].partition(".")[0].lower()
    return "validation" if word in VALIDATION else "test" if word == "test" else "train"


def _label(place: str, label: Any) -> str | None:
    """A label of another program as text."""
    if label is None or (type(label) is str and len(label) <= _LONGEST):
        return label
    if type(label) is int and abs(label) < 1 << 63:
        return str(label)
    raise MentorNetError(f"{place} must have a name or a number as its label")


def _classes(folder: Path, labels: set[str]) -> tuple[list[str], dict[str, int]]:
    """The class names, and the class of each label.

    If all labels are whole numbers, every number from 0 to the largest is a class.
    """
    if not all(label.isascii() and label.isdecimal() for label in labels):
        return sorted(labels), {label: number for number, label in enumerate(sorted(labels))}
    numbers = {label: int(label) if len(label) < 20 else _MOST for label in labels}
    largest = max(numbers.values(), default=0)
    if largest >= _MOST:
        raise MentorNetError(f"{folder} has class {cut(max(labels, key=len))}; is it a number?")
    return [str(number) for number in range(largest + 1)], numbers
