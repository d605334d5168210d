"""One process at a time in a folder, so that two runs never download the same file at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["alone", "let_go"]

_held: set[int] = set()


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
    _held.add(handle)
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
        _held.discard(handle)
        os.close(handle)


def let_go() -> None:
    """In a process that was forked: keep nobody out of a folder when the parent is gone."""
    for handle in _held:
        os.close(handle)
    _held.clear()
