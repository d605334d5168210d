"""The share of the lower of two bells, where nothing but the margins is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["share_of_lower"]

_ROUNDS, _APART, _NARROWEST, _STILL = 200, 2.0, 0.05, 1e-5
_DIP = 0.8  # of an even share lies between two bells, at most
_LOOKED_AT = 100_000


def share_of_lower(values: NDArray[np.floating[Any]]) -> float:
    """ε of (1 − ε) N(μ₁, σ₁) + ε N(μ₂, σ₂), μ₂ < μ₁, by expectation and maximisation.

    0 where the two are one: closer than two of their mean spreads, or with no dip between them.
    Of very many values some are looked at.

    >>> draw = np.random.default_rng(0)
    >>> two = np.concatenate([draw.normal(3, 0.5, 700), draw.normal(-4, 1, 300)])
    >>> round(share_of_lower(two), 2)
    0.3
    >>> share_of_lower(draw.normal(3, 0.5, 1000)), share_of_lower(draw.uniform(-3, 3, 1000))
    (0.0, 0.0)
    """
    values = np.asarray(values, np.float64)
    values = values[:: -(-len(values) // _LOOKED_AT)]
    whole = max(float(values.std()), _NARROWEST)
    mean = np.quantile(values, [0.1, 0.9])
    spread = np.full(2, whole / 2 + _NARROWEST)
    part = np.full(2, 0.5)
    for _ in range(_ROUNDS):
        away = (values[:, None] - mean) / spread
        density = part / spread * np.exp(-0.5 * away**2) + 1e-300
        weight = density / density.sum(1, keepdims=True)
        total = np.maximum(weight.sum(0), 1e-9)
        before, part = part, total / total.sum()
        mean = (weight * values[:, None]).sum(0) / total
        spread = np.sqrt((weight * (values[:, None] - mean) ** 2).sum(0) / total)
        spread = np.maximum(spread, _NARROWEST)
        if np.abs(part - before).max() < _STILL:
            break
    apart = abs(mean[1] - mean[0]) >= _APART * np.sqrt((spread**2).mean())
    return float(part[int(mean[1] < mean[0])]) if apart and _dips(values, mean) else 0.0


def _dips(values: NDArray[Any], mean: NDArray[Any]) -> bool:
    """Whether fewer values lie in the middle third between the means than even ones would."""
    low, high = sorted(mean.tolist())
    between = values[(values > low) & (values < high)]
    middle = np.abs(between - (low + high) / 2) < (high - low) / 6
    return len(between) == 0 or float(middle.mean()) < _DIP / 3
