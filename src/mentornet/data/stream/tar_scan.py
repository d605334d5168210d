"""The contents of the tar files of a WebDataset and their offsets. Nothing is extracted."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from mentornet.data.files.image_folder import named_as_image
from mentornet.errors import MentorNetError, cut
from mentornet.files import BoundedReads, parse_json, reading

__all__ = ["Member", "scan"]


class Member(NamedTuple):
    """One sample of a shard.

    Attributes:
        key: the name of its files up to the first dot.
        offset: position of the first byte of the image in the shard.
        size: number of bytes of the image.
        about: the content of its `.json`, and of its `.cls` as `label`.
    """

    key: str
    offset: int
    size: int
    about: dict[str, Any]


def scan(path: Path) -> Iterator[Member]:
    """The samples of one shard, in order.

    The files of one key follow one another: an image, and a `.cls` with its label or a `.json`
    with `given_label`. Other files are ignored.
    """
    with (
        reading(path, "as a complete tar file"),
        BoundedReads(path) as file,
        tarfile.open(fileobj=file, mode="r:") as archive,
    ):
        yield from _samples(path, archive)


def _samples(path: Path, archive: tarfile.TarFile) -> Iterator[Member]:
    key, image = "", None
    about: dict[str, Any] = {}
    size = path.stat().st_size
    for member in archive:
        if not member.isfile():
            continue
        _check_name(path, member.name)
        if member.offset_data + member.size > size:
            raise MentorNetError(f"{path} is cut short: {member.name} is incomplete")
        home, _, name = member.name.rpartition("/")
        stem, _, kind = name.partition(".")
        this = f"{home}/{stem}" if home else stem
        if this != key:
            if image is not None:
                yield Member(key, *image, about)
            key, image, about = this, None, {}
        if named_as_image(f"x.{kind}"):
            image = member.offset_data, member.size
        elif kind in ("cls", "json"):
            about |= _about(path, archive, member, kind)
    if image is not None:
        yield Member(key, *image, about)


def _about(
    path: Path, archive: tarfile.TarFile, member: tarfile.TarInfo, kind: str
) -> dict[str, Any]:
    file = archive.extractfile(member)
    assert file is not None  # because it is a regular file
    where, text = f"{path}: {member.name}", file.read(1 << 20)
    if kind == "json":
        return parse_json(text, where)
    with reading(where):
        return {"label": text.decode().strip()}


def _check_name(path: Path, name: str) -> None:
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        raise MentorNetError(f"{path} has an entry that leads out of its folder: {cut(name)!r}")
