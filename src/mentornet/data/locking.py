"""One process at a time in a folder, so that two runs never download the same file at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["alone"]


@contextmanager
def alone(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Inside, other processes wait that want to be alone in `folder` as well.

    Where the system or the file system has no such locks, nobody waits.

    Args:
        folder: which must be there.
        wait: whether to wait for another process; if not, what it yields says whether we are alone.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        mine = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            mine = False
        except OSError:  # no locks here
            pass
        yield mine
    finally:
        os.close(handle)
