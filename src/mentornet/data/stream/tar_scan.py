"""What is inside the tar files of a WebDataset, and where; nothing is ever extracted."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from mentornet.data.files.image_folder import named_as_image
from mentornet.errors import MentorNetError

__all__ = ["Member", "scan"]


class Member(NamedTuple):
    """One sample of a shard.

    Attributes:
        key: what its files are called, up to their first dot.
        offset: of the image's first byte in the shard.
        size: of the image in bytes.
        about: what its `.json` says, and its `.cls` as `label`.
    """

    key: str
    offset: int
    size: int
    about: dict[str, Any]


def scan(path: Path) -> Iterator[Member]:
    """The samples of one shard, in order.

    Files of one key stand side by side: an image, and a `.cls` with its label or a `.json` with
    `given_label`; anything else is passed over.
    """
    try:
        with tarfile.open(path, "r:") as archive:
            yield from _samples(path, archive)
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except (tarfile.TarError, EOFError, OSError) as error:
        raise MentorNetError(f"{path} is not a whole tar file: {error}") from None


def _samples(path: Path, archive: tarfile.TarFile) -> Iterator[Member]:
    key, image = "", None
    about: dict[str, Any] = {}
    size = path.stat().st_size
    for member in archive:
        if not member.isfile():
            continue
        _check_name(path, member.name)
        if member.offset_data + member.size > size:
            raise MentorNetError(f"{path} is cut short: {member.name} is not all there")
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
    assert file is not None  # it is a file
    try:
        text = file.read(1 << 20).decode()
        content = json.loads(text) if kind == "json" else {"label": text.strip()}
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise MentorNetError(f"{path}: {member.name} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise MentorNetError(f"{path}: {member.name} must hold a JSON object")
    return content


def _check_name(path: Path, name: str) -> None:
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        raise MentorNetError(f"{path} has an entry that leads out of its folder: {name!r}")
