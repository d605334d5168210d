"""How much memory there is, and whether images fit into it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["fits", "memory_here"]

_SHARE = 1 / 3  # of memory that images may take: parts of them are copied while they are prepared
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux says what a container may take."""


def memory_here() -> int | None:
    """The bytes of memory of this machine, or what this container may take; None if unknown."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None  # this system does not tell
    for path in _LIMITS:
        try:
            told = path.read_text().strip()
        except OSError:
            continue
        if told.isdecimal():
            found = min(found, int(told))
    return found


def fits(needed: int) -> bool:
    """Whether so many bytes of images fit into memory, once for each process on this machine."""
    memory = memory_here()
    processes = max(1, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    return memory is None or needed * processes <= _SHARE * memory
