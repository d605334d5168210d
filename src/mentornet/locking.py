"""One process at a time in a folder, so that two runs never write the same file at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["LOCK", "alone", "let_go"]

LOCK = ".lock"
"""The file in a folder that is locked: NFS locks only what is open for writing, so no folders. It
stays there, as whoever waits for it must find the same file afterwards."""

_held: set[int] = set()


@contextmanager
def alone(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Inside, other processes wait that want to be alone in `folder` as well.

    Where the system has no such locks, nobody waits; where the file system has none, that is said.

    Args:
        folder: which must be there, and writable.
        wait: whether to wait for another process; if not, what it yields says whether we are alone.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        yield True
        return
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    _held.add(handle)
    try:
        with suppress(OSError):  # it is another user's, who has done so
            os.fchmod(handle, 0o666)
        mine = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            mine = False
        except OSError as error:
            warnings.warn(
                f"{folder} cannot be locked ({error.strerror}): see to it that no two processes "
                "write there at once",
                stacklevel=3,
            )
        yield mine
    finally:
        _held.discard(handle)
        os.close(handle)


def let_go() -> None:
    """In a process that was forked: keep nobody out of a folder when the parent is gone."""
    for handle in _held:
        os.close(handle)
    _held.clear()
