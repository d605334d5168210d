"""Changes of bytes that need not know what they mean."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

__all__ = ["EXTREMES", "change_bytes", "garbage"]

EXTREMES = (0, 1, -1, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**40,
            2**63 - 1, -(2**63))  # fmt: skip
"""Whole numbers at which types and sizes end."""

Change = Callable[[Random, bytes], bytes]


def garbage(rng: Random, most: int = 300) -> bytes:
    """Return up to `most` random bytes, sometimes the same one over and over."""
    size = rng.randrange(most)
    return rng.randbytes(size) if rng.random() < 0.7 else rng.randbytes(1) * size


def change_bytes(rng: Random, content: bytes) -> bytes:
    """Return the bytes after one to three changes, small ones more often than large ones."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(_CHANGES)(rng, content)
    return content


def _flip(rng: Random, content: bytes) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        changed[_place(rng, len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _place(rng: Random, size: int) -> int:
    """A place, half of the time in the header."""
    return rng.randrange(size if rng.random() < 0.5 else min(size, 64))


def _extreme(rng: Random, content: bytes) -> bytes:
    """Write a number at which a type ends over the bytes somewhere."""
    kind = rng.choice("bhiqBHIQ")
    size = struct.calcsize(kind)
    number = rng.choice(EXTREMES) & ((1 << 8 * size) - 1)
    raw = number.to_bytes(size, rng.choice(("little", "big")))
    place = _place(rng, max(1, len(content) - size + 1)) if content else 0
    return content[:place] + raw + content[place + size :]


def _truncate(rng: Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _extend(rng: Random, content: bytes) -> bytes:
    return content + (garbage(rng) if rng.random() < 0.7 else content)


def _cut_out(rng: Random, content: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + content[place + rng.choice((1, 2, 4, 8, 100, 5_000)) :]


def _repeat(rng: Random, content: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    part = content[place : place + rng.choice((1, 4, 16, 200))]
    return content[:place] + part * rng.choice((2, 3, 50)) + content[place:]


def _insert(rng: Random, content: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + garbage(rng, 40) + content[place:]


def _move(rng: Random, content: bytes) -> bytes:
    """Copy one part of the bytes over another."""
    source, target = rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)
    part = content[source : source + rng.choice((4, 16, 64, 500))]
    return content[:target] + part + content[target + len(part) :]


def _replace_all(rng: Random, content: bytes) -> bytes:
    return garbage(rng, max(2, min(2 * len(content), 5_000)))


_CHANGES: tuple[Change, ...] = (
    _flip, _flip, _flip, _extreme, _extreme, _truncate, _extend, _cut_out, _repeat, _insert, _move,
    _replace_all,
)  # fmt: skip
