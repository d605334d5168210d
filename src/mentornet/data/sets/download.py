"""Download of a file from an address or a local path, with a checksum."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mentornet.data.progress import Progress
from mentornet.data.sets.web import CHUNK, Report, fetch, write_part
from mentornet.errors import MentorNetError
from mentornet.files import open_file

__all__ = ["download", "is_address", "local_path"]


def download(address: str, target: Path, *, md5: str, on_progress: Progress | None = None) -> None:
    """Download the file at `address` to `target`: whole and with the right checksum, or not at all.

    Bytes that have arrived are kept in `target.part`, and a later call continues from there if the
    server can. A target that exists and has the checksum is left alone.

    Args:
        address: an http, https or file address, or a local path.
        target: the file to write; its folder is created.
        md5: the checksum, in hexadecimal.
        on_progress: called with the name of the target and with bytes.
    """
    bring = fetch if is_address(address) else _copy
    if target.is_file() and _md5(target) == md5:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    resumed = part.exists()

    def report(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress(target.name, done, total)

    bring(address, part, report)
    found = _md5(part)
    if found != md5 and resumed:  # the old part may belong to another file
        part.unlink()
        bring(address, part, report)
        found = _md5(part)
    if found != md5:
        part.unlink()
        raise MentorNetError(
            f"{address} has the MD5 checksum {found}, expected {md5}: "
            "the file is damaged or another one; try again, or try another mirror"
        )
    part.replace(target)


def is_address(text: str) -> bool:
    """Whether `text` is an http or https address; false for a path or a file address.

    >>> is_address("https://example.org/a"), is_address("file:///tmp/a"), is_address("data/a")
    (True, False, False)
    """
    scheme, mark, _ = text.partition("://")
    if not mark:
        return False
    if scheme.lower() not in ("http", "https", "file"):
        raise MentorNetError(f"an address must start with http, https or file, got {text}")
    return scheme.lower() != "file"


def local_path(text: str) -> Path:
    """The path in `text`, which may be a file address."""
    if text.lower().startswith("file://"):
        return Path(url2pathname(urlsplit(text).path))
    return Path(text).expanduser()


def _copy(address: str, part: Path, report: Report) -> None:
    source = local_path(address)
    try:
        total = source.stat().st_size
        with open_file(source) as file:
            write_part(part, "wb", iter(lambda: file.read(CHUNK), b""), 0, total, report)
    except OSError as error:
        raise MentorNetError(f"{source} cannot be read: {error.strerror}") from None


def _md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
