"""Fit a mixture of two normal distributions: (1 − ε) N(μ₁, σ₁) + ε N(μ₂, σ₂).

Shapes: P points; estimates are `(3, 2)`, with the rows shares, means and spreads.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["are_separate", "em_round", "share_of_lower"]

_SEPARATE = 2.0  # least distance of the means of two groups, in mean spreads
_ROUNDS, _NARROWEST, _CONVERGED = 200, 0.05, 1e-5
_DIP = 0.8  # largest density halfway between the means, relative to uniform values
_MOST_VALUES = 100_000


def em_round(
    points: Tensor, counts: Tensor, estimate: Tensor, *, narrowest: float, least: float = 1e-20
) -> Tensor:
    """Return the estimate after one round of expectation and maximisation, `(3, 2)`.

    Args:
        points: the values, `(P,)`.
        counts: how often each value occurs, `(P,)`.
        estimate: the shares, means and spreads of the two distributions before, `(3, 2)`.
        narrowest: the smallest spread that each of the two may have.
        least: a density that is added everywhere, so that no value has density 0.

    >>> points, before = torch.tensor([0.0, 1.0, 9.0]), torch.tensor([[0.5, 0.5], [1, 8], [1, 1]])
    >>> em_round(points, torch.ones(3), before, narrowest=0.1)
    tensor([[0.6667, 0.3333],
            [0.5000, 9.0000],
            [0.5000, 0.1000]])
    """
    part, mean, spread = estimate
    away = (points[:, None] - mean) / spread
    density = part / spread * torch.exp(-0.5 * away**2) + least
    weight = density / density.sum(1, keepdim=True) * counts[:, None]
    total = weight.sum(0).clamp(min=1e-6)
    mean = (weight * points[:, None]).sum(0) / total
    spread = ((weight * (points[:, None] - mean) ** 2).sum(0) / total).sqrt()
    return torch.stack([total / total.sum(), mean, spread.clamp(min=narrowest)])


def are_separate(estimate: Tensor) -> Tensor:
    """Return whether the two means lie at least two mean spreads apart, a boolean scalar."""
    _, mean, spread = estimate
    return (mean[1] - mean[0]).abs() >= _SEPARATE * spread.square().mean().sqrt()


def share_of_lower(values: Tensor) -> float:
    """Return the share of the distribution with the lower mean, fitted to the values `(P,)`.

    It is 0 if the values are one group: if the means lie closer than two mean spreads, or if there
    is no dip between them. Of more than 100,000 values, only every second, third, … is used.

    >>> draw = torch.Generator().manual_seed(0)
    >>> normal = torch.randn(1000, generator=draw)
    >>> round(share_of_lower(torch.cat([3 + normal[:700] / 2, normal[700:] - 4])), 2)
    0.3
    >>> share_of_lower(normal), share_of_lower(torch.rand(1000, generator=draw))
    (0.0, 0.0)
    """
    values = values.double()[:: -(-len(values) // _MOST_VALUES)]
    counts = torch.ones_like(values)
    spread = max(float(values.std(correction=0)), _NARROWEST) / 2 + _NARROWEST
    ends = values.quantile(values.new_tensor([0.1, 0.9]))
    estimate = torch.stack([torch.full_like(ends, 0.5), ends, torch.full_like(ends, spread)])
    for _ in range(_ROUNDS):
        before = estimate
        estimate = em_round(values, counts, before, narrowest=_NARROWEST, least=1e-300)
        if (estimate[0] - before[0]).abs().max() < _CONVERGED:
            break
    part, mean, _ = estimate
    separate = bool(are_separate(estimate)) and _dips(values, mean)
    return float(part[mean.argmin()]) if separate else 0.0


def _dips(values: Tensor, mean: Tensor) -> bool:
    """Return whether the middle third between the means has fewer values than if uniform."""
    low, high = mean.aminmax()
    between = values[(values > low) & (values < high)]
    middle = (between - (low + high) / 2).abs() < (high - low) / 6
    return len(between) == 0 or float(middle.double().mean()) < _DIP / 3
