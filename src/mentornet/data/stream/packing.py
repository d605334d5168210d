"""Packing a dataset into shards. Every image is decoded once, and every shard is read back."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import tarfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from mentornet.data.files.decode import Packed, UnreadableImage, opened, quiet
from mentornet.data.files.image_folder import SUFFIXES
from mentornet.data.files.reading import WORKERS
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits, check_images
from mentornet.data.stream.shards import FORMAT, INDEX, PLAN
from mentornet.data.stream.streamed import Place, Streamed, read_place
from mentornet.data.stream.tar_scan import Member, scan
from mentornet.errors import MentorNetError, cut
from mentornet.files import read_json, write_bytes, write_json

__all__ = ["PER_SHARD", "Packing", "pack"]

PER_SHARD = 1_000
"""Default number of images in a shard; for ImageNet this is about 110 MB."""


class Packing(NamedTuple):
    """The result: number of shards, samples and bytes, and the images that were left out."""

    shards: int
    samples: int
    size: int
    skipped: tuple[str, ...]


def pack(
    splits: Splits,
    folder: Path,
    *,
    source: str,
    per_shard: int = PER_SHARD,
    skip_bad: bool = False,
    on_progress: Progress | None = None,
) -> Packing:
    """Write all parts of a dataset to `folder`, and read them back.

    Images in files are copied byte for byte, and images in memory are written as PNG. A shard gets
    its name when it is complete, so after an interruption the same call continues with the next.

    Args:
        splits: the dataset.
        folder: a new folder, or one that an earlier call with the same arguments began.
        source: the name that the user gave; it is stored with the shards.
        per_shard: number of images in each shard.
        skip_bad: leave out images that cannot be decoded; their numbers stay unused.
        on_progress: called after each shard.
    """
    if per_shard < 1:
        raise MentorNetError(f"per_shard must be ≥ 1, got {per_shard}")
    parts = _parts(splits)
    plan = _plan(parts, source, per_shard)
    _begin(folder, plan)
    chunks = [
        (part, start) for part, samples in parts.items()
        for start in range(0, len(samples), per_shard)
    ]  # fmt: skip
    total, done = sum(map(len, parts.values())), 0
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("part", "shard", "offset", "size", "given_label", "true_label", "path")
    }
    names: list[str] = []
    hashes: dict[str, str] = {}
    skipped: list[str] = []
    for number, (part, start) in enumerate(chunks):
        samples = parts[part]
        name = f"{part}-{start // per_shard:06d}.tar"
        path = folder / name
        indices = range(start, min(start + per_shard, len(samples)))
        fresh = not path.exists()
        left_out = _write(path, samples, indices, skip_bad) if fresh else []
        found = _members(path, indices)
        if fresh and len(found) + len(left_out) < len(indices):
            raise MentorNetError(f"{path} does not hold what was written to it; is the disk full?")
        if not fresh:
            _check_content(path, samples, found)
        skipped += [_name(samples, index) for index in indices if index not in found]
        for index in indices:
            if index in found:
                _add(columns, part, number, found[index], samples, index)
        names.append(name)
        hashes[name] = _digest(path)
        done += len(indices)
        if on_progress is not None:
            on_progress("packing", done, total)
    _write_index(folder / INDEX, columns)
    write_json(folder / PLAN, plan | {"shards": names, "sha256": hashes, "skipped": skipped})
    size = sum((folder / name).stat().st_size for name in names)
    return Packing(len(names), len(columns["part"]), size, tuple(skipped))


def _members(path: Path, indices: range) -> dict[int, Member]:
    """The samples in a shard by number; a shard with other samples is an error."""
    names = {f"{index:09d}": index for index in indices}
    found = {}
    for member in scan(path):
        if member.key not in names:
            raise MentorNetError(f"{path} holds {cut(member.key)!r}, which was not packed into it")
        found[names[member.key]] = member
    return found


def _parts(splits: Splits) -> dict[str, Samples]:
    parts = {"train": splits.train, "test": splits.test}
    if splits.validation is not None:
        parts["validation"] = splits.validation
    parts |= splits.further
    for samples in parts.values():
        check_images(samples)
    return parts


def _plan(parts: dict[str, Samples], source: str, per_shard: int) -> dict[str, Any]:
    train = parts["train"]
    digest = hashlib.sha256(b"".join(samples.fingerprint() for samples in parts.values()))
    return {
        "format": FORMAT,
        "source": source,
        "per_shard": per_shard,
        "streamed": train.streamed,
        "shape": list(train.shape),
        "counts": {part: len(samples) for part, samples in parts.items()},
        "digest": digest.hexdigest(),
        "groups": None if train.groups is None else train.groups.tolist(),
        "classes": list(train.classes),
    }


def _begin(folder: Path, plan: dict[str, Any]) -> None:
    """Prepare the folder: a new one, or one in which the same packing was begun."""
    path = folder / PLAN
    if path.is_file():
        begun = read_json(path)
        for key in ("format", "per_shard", "digest"):
            if begun.get(key) != plan[key]:
                raise MentorNetError(
                    f"{folder} holds shards of another packing: its {key} is "
                    f"{cut(repr(begun.get(key)))}, not {plan[key]!r}; choose another folder"
                )
        for left in folder.glob(".*.tar.*"):
            left.unlink()
    elif folder.exists() and any(folder.iterdir()):
        raise MentorNetError(
            f"{folder} is not empty, and was not begun by this command; choose another folder"
        )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, plan)


def _check_content(path: Path, samples: Samples, found: Mapping[int, Member]) -> None:
    """Raise if a shard of an earlier call does not hold its images, byte for byte."""
    if not isinstance(samples.inputs, Streamed):
        return  # the pixels of a PNG are compared when it is read
    for index, member in found.items():
        packed = read_place(Place(f"{path}", path.name, member.offset, member.size))
        if packed.content != read_place(samples.inputs.place(index)).content:
            raise MentorNetError(
                f"{path} is damaged: {_name(samples, index)} has changed; remove the shard, and "
                "the same command packs it again"
            )


def _write(path: Path, samples: Samples, indices: range, skip_bad: bool) -> list[int]:
    """Write one complete shard or none, and return the numbers of the images left out."""
    written = []
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
                for index, content, suffix in _contents(samples, indices, skip_bad):
                    written.append(index)
                    _put(archive, f"{index:09d}.{suffix}", content)
                    label = int(samples.given_label[index])
                    _put(archive, f"{index:09d}.cls", f"{label}".encode())
                    about = json.dumps(_about(samples, index), ensure_ascii=False)
                    _put(archive, f"{index:09d}.json", about.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return [index for index in indices if index not in set(written)]


def _contents(samples: Samples, indices: range, skip_bad: bool) -> Iterator[tuple[int, bytes, str]]:
    """The number, the bytes and the suffix of each image that can be decoded."""
    inputs = samples.inputs
    read: Callable[[int], tuple[bytes, str] | UnreadableImage]
    if isinstance(inputs, Streamed):
        streamed = inputs

        def read(index: int) -> tuple[bytes, str] | UnreadableImage:
            try:
                return _checked(read_place(streamed.place(index)), _name(samples, index))
            except UnreadableImage as error:
                return error
    else:
        held = inputs

        def read(index: int) -> tuple[bytes, str] | UnreadableImage:
            return _png(held[index]), "png"

    with quiet(), ThreadPoolExecutor(WORKERS) as pool:
        for index, found in zip(indices, pool.map(read, indices), strict=True):
            if not isinstance(found, UnreadableImage):
                yield (index, *found)
            elif not skip_bad:
                hint = f"{found.reason}; set skip_bad to leave it out"
                raise UnreadableImage(found.name, hint) from None


def _checked(packed: Packed, name: str) -> tuple[bytes, str]:
    """The bytes of an image that Pillow can decode, and the suffix of its format."""
    with opened(packed) as image:
        image.load()
        kind = (image.format or "").lower()
    known = PurePosixPath(name).suffix.lower()
    if known in SUFFIXES:
        return packed.content, known.removeprefix(".")
    return packed.content, {"jpeg": "jpg", "jpeg2000": "jp2"}.get(kind, kind)


def _png(pixels: Tensor) -> bytes:
    from PIL import Image

    content = io.BytesIO()
    array = pixels.permute(1, 2, 0).squeeze(2).contiguous().numpy()
    Image.fromarray(array).save(content, "PNG")
    return content.getvalue()


def _about(samples: Samples, index: int) -> dict[str, Any]:
    about: dict[str, Any] = {"given_label": int(samples.given_label[index])}
    if samples.true_label is not None:
        about["true_label"] = int(samples.true_label[index])
    if samples.paths is not None:
        about["path"] = samples.paths[index]
    return about


def _put(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _name(samples: Samples, index: int) -> str:
    return f"image {index}" if samples.paths is None else samples.paths[index]


def _add(
    columns: dict[str, list[Any]], part: str, shard: int, member: Any, samples: Samples, index: int
) -> None:
    """Add a row to the index, after a check that the shard fits the data."""
    about = _about(samples, index)
    if any(member.about.get(key) != value for key, value in about.items()):
        raise MentorNetError(f"sample {member.key} of shard {shard} was packed from other data")
    for name, value in (
        ("part", part), ("shard", shard), ("offset", member.offset), ("size", member.size),
        ("given_label", about["given_label"]), ("true_label", about.get("true_label", -1)),
        ("path", about.get("path")),
    ):  # fmt: skip
        columns[name].append(value)


def _digest(path: Path) -> str:
    content = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            content.update(block)
    return content.hexdigest()


def _write_index(path: Path, columns: dict[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"part": None, "path": None}
    table = {
        name: values if name in kinds else np.array(values, np.int64)
        for name, values in columns.items()
    }
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(table), buffer, compression="zstd")
    write_bytes(path, buffer.getvalue().to_pybytes())
