"""Random numbers from explicit seeds; nothing here changes the global random state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["generator", "hashed_uniform", "seeded"]


_STEP = 0x9E3779B97F4A7C15 - 2**64
_MIX = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)
"""The multipliers of SplitMix64 (Steele et al. 2014), as signed numbers."""


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
    start = _mixed(torch.as_tensor(seed, device=ids.device) + step * _STEP)
    return ((_mixed(start + ids.long() * _STEP) >> 40) & 0xFFFFFF).float() * 2.0**-24


def _mixed(bits: Tensor) -> Tensor:
    """Apply the finaliser of SplitMix64; multiplication wraps around."""
    bits = (bits ^ _shifted(bits, 30)) * _MIX[0]
    bits = (bits ^ _shifted(bits, 27)) * _MIX[1]
    return bits ^ _shifted(bits, 31)


def _shifted(bits: Tensor, by: int) -> Tensor:
    """Shift to the right and fill with zeros, as for unsigned numbers."""
    return (bits >> by) & ((1 << (64 - by)) - 1)
