"""Read and write files; a file is written as a whole or not at all.

Files that are read may come from anywhere. `open_file` is the one door: what never ends, such as a
pipe or a device, does not pass it. `reading` turns whatever fails behind it into one line.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError, first_line

__all__ = [
    "BoundedReads",
    "as_json",
    "open_file",
    "parse_json",
    "read_bytes",
    "read_json",
    "read_lines",
    "reading",
    "sweep",
    "write_bytes",
    "write_json",
    "write_text",
]

_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{16}")
_JSON = 1 << 25  # bytes of the largest JSON file; its objects take up to 20 times as many


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically: a reader finds the old file or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent, path.name)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            _lock(file.fileno())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, f"{path}") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sweep(folder: Path, name: str | None = None, *, age: float = 1.0) -> None:
    """Remove unfinished files that `write_bytes` left when its process was killed.

    A process that still writes holds a lock on its file, which therefore stays.

    Args:
        folder: where to look; folders below it are left alone.
        name: the name of the file that was to be written; by default that of any file.
        age: seconds since the last change, before which a process may be about to lock its file.
    """
    with suppress(OSError):  # the folder cannot be listed
        for entry in os.scandir(folder):
            found = _TEMPORARY.fullmatch(entry.name)
            if found and name in (None, found[1]) and entry.is_file(follow_symlinks=False):
                _remove_left(Path(entry.path), age)


def _remove_left(path: Path, age: float) -> None:
    """Remove this file if nobody writes to it any more."""
    with suppress(OSError):  # it is gone, or belongs to somebody else
        if time.time() - path.stat().st_mtime >= age:
            with open_file(path) as file:
                if _lock(file.fileno()):
                    path.unlink()


def _lock(number: int) -> bool:
    """Lock an open file until it is closed; return whether nobody else has."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows, which does not delete what is open
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return True
    return True


def write_text(path: Path, content: str) -> None:
    """Write `content` to `path` atomically, as UTF-8."""
    write_bytes(path, content.encode())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write `content` to `path` atomically, as JSON."""
    write_text(path, as_json(content))


def as_json(content: Mapping[str, Any]) -> str:
    """Return `content` as indented JSON, in its own order; NaN is an error."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def open_file(path: str | Path) -> io.BufferedReader:
    """Open a regular file to read bytes; anything else, or a link to it, raises `OSError`."""
    if "\0" in f"{path}":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{path}")
    return open(path, "rb", opener=_open_regular)


def _open_regular(path: str, flags: int) -> int:
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # else opening a pipe waits
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return number
    os.close(number)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "it is not a regular file", path)


@contextmanager
def reading(path: str | Path, what: str = "") -> Iterator[None]:
    """A context in which a file is read: any error in it becomes a `MentorNetError` of one line.

    Args:
        path: the file.
        what: what it is read as, such as "as labels".
    """
    try:
        yield
    except MentorNetError:
        raise
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except Exception as error:  # the bytes are not ours, and readers may raise anything for them
        what = f" {what}" if what else ""
        raise MentorNetError(f"{path} cannot be read{what}: {first_line(error)}") from error


def read_bytes(path: Path, most: int) -> bytes:
    """Return all bytes of a regular file; an error if there are more than `most`."""
    with reading(path), open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise MentorNetError(f"{path} has {size:,} bytes; at most {most:,} are read")
        return file.read(size)


def read_lines(path: Path, most: int = 1 << 29) -> list[str]:
    """Return the lines of a text file in UTF-8; an error if it has more than `most` bytes."""
    try:
        return read_bytes(path, most).decode().splitlines()
    except UnicodeDecodeError:
        raise MentorNetError(f"{path} is not UTF-8") from None


class BoundedReads(io.BufferedReader):
    """A file of which at most `most` bytes are read at once.

    Archives state the sizes of their parts, and the modules that read them believe it.
    """

    def __init__(self, path: str | Path, most: int = 1 << 24) -> None:
        super().__init__(open_file(path).detach())
        self.most = most

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to `size` bytes; raises `ValueError` if that is too much."""
        if size is not None and size > self.most:
            raise ValueError(f"it states a part of {size:,} bytes")
        return super().read(size)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; errors name the file."""
    return parse_json(read_bytes(path, _JSON), f"{path}")


def parse_json(text: bytes, where: str) -> dict[str, Any]:
    """Return the object that JSON text in UTF-8 holds; errors say `where` it is."""
    try:
        content = json.loads(text.decode())
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        reason = first_line(error)
        raise MentorNetError(f"{where} is not JSON ({reason}); was it cut short?") from None
    if not isinstance(content, dict):
        raise MentorNetError(f"{where} must hold a JSON object, got {type(content).__name__}")
    return content
