"""Lock a folder, so that two runs never write to it at the same time."""

from __future__ import annotations

import errno
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mentornet.errors import MentorNetError

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
    handle = _opened(folder / LOCK)
    _held.add(handle)
    try:
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


def _opened(path: Path) -> int:
    """Open the file to lock, and make it if it is missing.

    A link is not followed, because a folder from elsewhere may have one to any file. If the file
    belongs to another user, it is opened for reading only, which NFS alone cannot lock.
    """
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            handle = os.open(path, flags | os.O_RDWR | os.O_CREAT, 0o666)
        except PermissionError:
            handle = os.open(path, flags | os.O_RDONLY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO):
            raise _no_file(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_file(path)
    return handle


def _no_file(path: Path) -> MentorNetError:
    return MentorNetError(f"{path} must be a plain file, not a link or anything else; delete it")


def let_go() -> None:
    """Release the locks that a forked process has from its parent, so that they end with it."""
    for handle in _held:
        os.close(handle)
    _held.clear()
