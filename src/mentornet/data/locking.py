"""One process at a time in a folder, so that two runs never download the same file at once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["alone"]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Inside, other processes wait that want to be alone in `folder` as well.

    Where the system or the file system has no such locks, nobody waits.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
