"""Lock a folder, so that two runs never write to it at the same time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["LOCK", "alone", "let_go"]

LOCK = ".lock"
"""The locked file in the folder; a folder itself cannot be locked on NFS. The file is not deleted,
because a waiting process must find the same file afterwards."""

_held: set[int] = set()


@contextmanager
def alone(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of `folder` inside; yield whether this process holds it.

    On Windows there is no such lock, and no process waits. If the file system has no locks, a
    warning says so.

    Args:
        folder: the folder, which must exist and be writable.
        wait: whether to wait until other processes release the lock.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        yield True
        return
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    _held.add(handle)
    try:
        with suppress(OSError):  # the file belongs to another user, who has done so
            os.fchmod(handle, 0o666)
        mine = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            mine = False
        except OSError as error:
            warnings.warn(
                f"{folder} cannot be locked ({error.strerror}); make sure that no two processes "
                "write to it at once",
                stacklevel=3,
            )
        yield mine
    finally:
        _held.discard(handle)
        os.close(handle)


def let_go() -> None:
    """Release the locks that a forked process has from its parent, so that they end with it."""
    for handle in _held:
        os.close(handle)
    _held.clear()
