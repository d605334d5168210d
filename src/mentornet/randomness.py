"""Randomness is an argument: nothing here moves the global random state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from mentornet.errors import MentorNetError

__all__ = ["generator", "seeded"]


def generator(seed: int, *stream: int) -> torch.Generator:
    """A generator of its own for each (seed, stream…), so that one purpose never disturbs another.

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
    """Inside, torch's own initialisers on the CPU draw from `seed`; outside, nothing has happened.

    (`torch.manual_seed` would also seed every accelerator, and nobody would put that back.)
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(_checked(seed))
        yield


def _checked(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise MentorNetError(f"seed must be in 0 … 2⁶³ − 1, got {seed}")
    return seed
