"""Uniform numbers by hashing: the same on every device, on every rank, compiled or not."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["hashed_uniform"]

_STEP = 0x9E3779B97F4A7C15 - 2**64
_MIX = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)
"""The multipliers of SplitMix64 (Steele et al. 2014), as signed numbers."""


def hashed_uniform(seed: int, step: Tensor, ids: Tensor) -> Tensor:
    """Draws u in [0, 1), float32 of the shape of `ids`, from (seed, step, id) and nothing else.

    No generator is involved, so there is no state to carry, nothing to wait for, and a sample draws
    the same number wherever its batch is computed.

    Args:
        seed: of the run.
        step: which step of training, a whole number on the device of `ids`.
        ids: of the samples, `(B,)`, integer.

    >>> draws = hashed_uniform(0, torch.tensor(7), torch.arange(1000))
    >>> 0.45 < draws.mean().item() < 0.55
    True
    """
    start = _mixed(torch.as_tensor(seed, device=ids.device) + step * _STEP)
    return ((_mixed(start + ids.long() * _STEP) >> 40) & 0xFFFFFF).float() * 2.0**-24


def _mixed(bits: Tensor) -> Tensor:
    """The finaliser of SplitMix64; multiplication wraps around."""
    bits = (bits ^ _shifted(bits, 30)) * _MIX[0]
    bits = (bits ^ _shifted(bits, 27)) * _MIX[1]
    return bits ^ _shifted(bits, 31)


def _shifted(bits: Tensor, by: int) -> Tensor:
    """To the right, zeros coming in, as if the numbers had no sign."""
    return (bits >> by) & ((1 << (64 - by)) - 1)
