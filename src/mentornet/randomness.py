"""Random numbers from explicit seeds; nothing here changes the global random state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["generator", "hashed_uniform", "seeded"]


_BITS = 0xFFFFFFFF
_FACTOR = 0x45D9F3B
"""An odd factor below 2³¹: its product with 32 bits fits in a signed number of 64 bits. Compiled
code may do anything after a product that does not fit."""


def generator(seed: int, *stream: int) -> torch.Generator:
    """Return a generator for (seed, stream…); each stream is independent of all others.

    >>> a, b = generator(0, 1), generator(0, 2)
    >>> torch.equal(torch.rand(3, generator=a), torch.rand(3, generator=b))
    False
    """
    mixed = _checked(seed)
    for part in stream:
        mixed = (mixed * 1_000_003 + part + 1) % 2**63
    return torch.Generator().manual_seed(mixed)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's CPU generator inside, and restore its state afterwards.

    (`torch.manual_seed` would also seed the accelerators, whose state would not be restored.)
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(_checked(seed))
        yield


def _checked(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise MentorNetError(f"seed must be in 0 … 2⁶³ − 1, got {seed}")
    return seed


def hashed_uniform(seed: int, step: Tensor, ids: Tensor) -> Tensor:
    """Return random u in [0, 1), float32, `(B,)`, that depend only on (seed, step, id).

    There is no generator and so no state. A sample gets the same number in every process and on
    every device, without synchronisation.

    Args:
        seed: the seed of the run.
        step: the number of the step, a whole number on the device of `ids`.
        ids: the numbers of the samples, `(B,)`, integer.

    >>> draws = hashed_uniform(0, torch.tensor(7), torch.arange(1000))
    >>> 0.45 < draws.mean().item() < 0.55
    True
    """
    start = _mixed(_mixed(step.long() & _BITS) + _folded(seed) & _BITS)
    return (_mixed(_mixed(ids.long() & _BITS) + start & _BITS) >> 8).float() * 2.0**-24


def _folded(seed: int) -> int:
    """Return 32 bits that depend on all bits of the seed."""
    return (seed ^ (seed >> 32) * 0x9E3779B1) + 0x9E3779B9 & _BITS


def _mixed(bits: Tensor) -> Tensor:
    """Mix 32 bits, so that each bit of the result depends on all of them: xor, multiply, twice."""
    bits = (bits ^ bits >> 16) * _FACTOR & _BITS
    bits = (bits ^ bits >> 16) * _FACTOR & _BITS
    return bits ^ bits >> 16
