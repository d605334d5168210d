"""Samples of the feature space, to fit a mentor to a predefined curriculum.

The paper's grid (App. D) is coarse. Its points are 0.1 apart, and a mentor that is exact on them
may place a jump anywhere in between; but late in training most losses are below 0.1. So the shipped
mentors are fitted on dense features, and the grid is there to reproduce the paper.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures
from mentornet.randomness import generator

__all__ = ["DIFFERENCES", "FEATURES", "LOSSES", "dense_features", "enumerate_features"]

LOSSES = torch.cat([torch.arange(0, 100) / 10, torch.arange(10, 30) / 1])
"""Losses from 0 to 10 by 0.1 and from 10 to 30 by 1, as in the authors' released code."""

DIFFERENCES = torch.arange(-50, 50) / 10
"""Differences from −5 to 5 by 0.1, as in the authors' released code."""

_WOBBLES = torch.tensor([0.0, 0.1, 0.3, 1.0, 3.0])


def enumerate_features(
    count: int = 300_000, *, history: int = 1, num_classes: int = 10, seed: int = 0
) -> MentorFeatures:
    """Draw `count` samples of all combinations of loss, difference, label and progress.

    For the current step every combination is equally likely; ℓ_pt = loss − difference is constant
    over the history. The T − 1 earlier losses are random losses of the grid for one half of the
    samples. For the other half, whose losses change slowly, they are the current loss plus noise
    of one of five sizes.
    """
    _check_sizes(count, history, num_classes)
    draw = generator(seed)

    def pick_from(grid: Tensor, *shape: int) -> Tensor:
        return grid[torch.randint(len(grid), shape, generator=draw)]

    now = pick_from(LOSSES, count, 1)
    percentile = now - pick_from(DIFFERENCES, count, 1)
    anything = pick_from(LOSSES, count, history - 1)
    wobble = pick_from(_WOBBLES, count, 1) * torch.randn(count, history - 1, generator=draw)
    steady = ((now + wobble) * 10).round().clamp(0, 290) / 10
    before = torch.where(torch.rand(count, 1, generator=draw) < 0.5, anything, steady)
    loss = torch.cat([before, now], dim=1)
    return MentorFeatures(
        loss,
        # Round to tenths, as a subtraction is not exact and thresholds lie between grid points.
        ((loss - percentile) * 10).round() / 10,
        torch.randint(num_classes, (count,), generator=draw),
        torch.randint(PERCENT, (count,), generator=draw),
    )


def dense_features(
    count: int = 300_000, *, history: int = 1, num_classes: int = 10, seed: int = 0
) -> MentorFeatures:
    """Draw `count` samples between the grid points, as they occur from first to last epoch.

    Each sample has a scale s from 0.01 to 20, uniform in log s. Losses are exponential with mean s.
    So is ℓ_pt; but for one sample in four it lies close to the current loss, where the weights of
    most curricula change. For one half of the samples the T − 1 earlier losses are random losses of
    the same scale; for the other half they are the current loss plus noise. One sample in four is
    taken from the grid, so that rare combinations occur too.
    """
    grid = enumerate_features(count, history=history, num_classes=num_classes, seed=seed)
    draw = generator(seed, 1)

    def exponential(*shape: int) -> Tensor:
        return -torch.rand(shape, generator=draw).clamp(min=1e-7).log()

    scale = 20 * 2000 ** -torch.rand(count, 1, generator=draw)
    now = scale * exponential(count, 1)
    near = now * (1 + 0.1 * torch.randn(count, 1, generator=draw))
    close = torch.rand(count, 1, generator=draw) < 0.25
    percentile = torch.where(close, near.clamp(min=0), scale * exponential(count, 1))
    anything = scale * exponential(count, history - 1)
    steady = (now * (1 + 0.3 * torch.randn(count, history - 1, generator=draw))).clamp(min=0)
    before = torch.where(torch.rand(count, 1, generator=draw) < 0.5, anything, steady)
    loss = torch.cat([before, now], dim=1)
    of_grid = torch.rand(count, 1, generator=draw) < 0.25
    return MentorFeatures(
        torch.where(of_grid, grid.loss, loss),
        torch.where(of_grid, grid.difference, loss - percentile),
        grid.label,
        grid.progress,
    )


def _check_sizes(count: int, history: int, num_classes: int) -> None:
    for name, value in (("count", count), ("history", history), ("num_classes", num_classes)):
        if value < 1:
            raise MentorNetError(f"{name} must be ≥ 1, got {value}")


FEATURES: dict[str, Callable[..., MentorFeatures]] = {
    "grid": enumerate_features,
    "dense": dense_features,
}
"""The features that a mentor can be fitted on, by name."""
