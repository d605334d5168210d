"""A dataset in shards: the tar files of a WebDataset, with an index of all samples.

    shards.json      classes, parts, shape of the images, hashes of the shards
    index.parquet    one row for each sample: part, shard, offset, size, labels, path
    train-000000.tar, train-000001.tar, …, test-000000.tar, …

Any WebDataset reader can read the tar files. With the index we read any sample directly, so an
epoch has the same random order, bit for bit, as with loose files. Shards that were made by other
programs have no such index, and are searched through once.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.data.files.decode import UnreadableImage
from mentornet.data.files.reading import read_images
from mentornet.data.parts import VALIDATION, into_splits
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.stream.streamed import SIDE, InShards, read_place
from mentornet.data.stream.tar_scan import scan
from mentornet.errors import MentorNetError
from mentornet.files import read_json

__all__ = ["FORMAT", "INDEX", "PLAN", "has_shards", "load_shards"]

PLAN, INDEX, FORMAT = "shards.json", "index.parquet", 1


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
        plan = read_json(folder / PLAN)
        if plan.get("format") != FORMAT:
            raise MentorNetError(
                f"{folder / PLAN} has format {plan.get('format')!r}, but this version reads "
                f"format {FORMAT}; pack the data again"
            )
        if not (folder / INDEX).is_file() or "shards" not in plan:
            raise MentorNetError(
                f"{folder} was not packed to the end; run the same mentornet shards command again"
            )
        table = _read_index(folder / INDEX)
    else:
        plan, table = _searched(folder, on_progress)
    if side is not None and not plan["streamed"]:
        raise MentorNetError(
            f"the setting image_size has no meaning for {folder}: its images have one size"
        )
    _check_sizes(folder, plan["shards"], table)
    parts = {
        part: _samples(folder, plan, table, part, side or SIDE, on_progress)
        for part in dict.fromkeys(table["part"].tolist())
    }
    if "train" not in parts:
        raise MentorNetError(
            "the shards have no training part; its files must be called train-….tar"
        )
    return into_splits(parts)


def _samples(
    folder: Path,
    plan: dict[str, Any],
    table: dict[str, Any],
    part: str,
    side: int,
    on_progress: Progress | None,
) -> Samples:
    rows = table["part"] == part
    column = {name: torch.from_numpy(table[name][rows]) for name in ("shard", "offset", "size")}
    streamed = InShards(
        folder, plan["shards"], column["shard"], column["offset"], column["size"], side
    )
    true = table["true_label"][rows]
    paths = table["path"][rows].tolist()
    return Samples(
        streamed if plan["streamed"] else _in_memory(streamed, plan, on_progress),
        torch.from_numpy(table["given_label"][rows]),
        tuple(plan["classes"]),
        true_label=torch.from_numpy(true) if (true >= 0).all() else None,
        groups=torch.tensor(plan["groups"]) if plan.get("groups") else None,
        paths=tuple(paths) if paths and paths[0] is not None else None,
    )


def _in_memory(streamed: InShards, plan: dict[str, Any], on_progress: Progress | None) -> Tensor:
    channels, height, width = plan["shape"]
    if height != width:
        raise MentorNetError(f"images must be square, got {height} × {width}")
    packed = [read_place(place) for place in streamed.places(range(len(streamed)))]
    return read_images(packed, height, channels, on_progress=on_progress).pixels


def _read_index(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        names = ("part", "shard", "offset", "size", "given_label", "true_label", "path")
        return {name: table[name].to_numpy() for name in names}
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise MentorNetError(f"{path} cannot be read: {error}; pack the data again") from None


def _check_sizes(folder: Path, shards: list[str], table: dict[str, Any]) -> None:
    """Raise if a shard is missing or too short, before work starts."""
    if len(table["shard"]) and int(table["shard"].max()) >= len(shards):
        raise MentorNetError(
            f"{folder / PLAN} names fewer shards than {INDEX}; pack the data again"
        )
    ends = np.zeros(len(shards), np.int64)
    np.maximum.at(ends, table["shard"], table["offset"] + table["size"])
    for name, end in zip(shards, ends.tolist(), strict=True):
        path = folder / name
        if not path.is_file():
            raise MentorNetError(f"{path} is missing")
        if path.stat().st_size < end:
            raise UnreadableImage(f"{path}", f"it is cut short; {end} bytes are needed")


def _searched(folder: Path, on_progress: Progress | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The plan and the index of shards that were made by another program."""
    shards = sorted(path.name for path in folder.glob("*.tar"))
    rows: list[tuple[str, int, int, int, str, str | None, str]] = []
    for number, name in enumerate(shards):
        for member in scan(folder / name):
            given = member.about.get("given_label", member.about.get("label"))
            if given is None:
                raise MentorNetError(
                    f"{folder / name}: {member.key} has no label, neither in a .cls nor as "
                    "given_label in a .json"
                )
            true = member.about.get("true_label")
            rows.append(
                (_part(name), number, member.offset, member.size, str(given),
                 None if true is None else str(true), member.key)
            )  # fmt: skip
        if on_progress is not None:
            on_progress("searching shards", number + 1, len(shards))
    classes = _classes({row[4] for row in rows} | {row[5] for row in rows if row[5] is not None})
    numbers = {name: number for number, name in enumerate(classes)}
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
    return {"shards": shards, "classes": classes, "streamed": True}, table


def _part(shard: str) -> str:
    word = shard.partition("-")[0].partition(".")[0].lower()
    return "validation" if word in VALIDATION else "test" if word == "test" else "train"


def _classes(labels: Iterable[str]) -> list[str]:
    """The class names; if all are whole numbers, every number from 0 to the largest."""
    names = sorted(labels)
    if all(name.isdecimal() for name in names):
        return [str(number) for number in range(max(map(int, names), default=0) + 1)]
    return names
