"""Files from an address or a local path, checked before they count."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mentornet.data.progress import Progress
from mentornet.data.sets.web import CHUNK, Report, fetch, write_part
from mentornet.errors import MentorNetError

__all__ = ["download", "is_address", "local_path"]


def download(address: str, target: Path, *, md5: str, on_progress: Progress | None = None) -> None:
    """Put the file at `address` to `target`, whole and with the right checksum, or not at all.

    What has arrived is kept in `target.part`; a later call goes on from there if the server can.
    A target that is there already and has the checksum is left alone.

    Args:
        address: http, https or file, or a local path.
        target: where to; its folder is made.
        md5: the checksum, in hexadecimal.
        on_progress: called with the target's name and with bytes.
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
    if found != md5 and resumed:  # the old part may have been of something else
        part.unlink()
        bring(address, part, report)
        found = _md5(part)
    if found != md5:
        part.unlink()
        raise MentorNetError(
            f"{address} has the MD5 checksum {found}, expected {md5}: "
            "it is damaged or another file; try again or another mirror"
        )
    part.replace(target)


def is_address(text: str) -> bool:
    """Whether `text` is of http or https; false for paths, file addresses included.

    >>> is_address("https://example.org/a"), is_address("file:///tmp/a"), is_address("data/a")
    (True, False, False)
    """
    scheme, mark, _ = text.partition("://")
    if not mark:
        return False
    if scheme.lower() not in ("http", "https", "file"):
        raise MentorNetError(f"an address must be of http, https or file, got {text}")
    return scheme.lower() != "file"


def local_path(text: str) -> Path:
    """The path that `text` is, or that a file address stands for."""
    if text.lower().startswith("file://"):
        return Path(url2pathname(urlsplit(text).path))
    return Path(text).expanduser()


def _copy(address: str, part: Path, report: Report) -> None:
    source = local_path(address)
    try:
        total = source.stat().st_size
        with source.open("rb") as file:
            write_part(part, "wb", iter(lambda: file.read(CHUNK), b""), 0, total, report)
    except OSError as error:
        raise MentorNetError(f"{source} cannot be read: {error.strerror}") from None


def _md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
