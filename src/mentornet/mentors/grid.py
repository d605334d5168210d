"""Samples of the feature space, to teach a mentor a predefined curriculum.

The paper's grid (App. D) is coarse: a mentor that is exact on it may put a step anywhere between
two grid points, a tenth apart, and late in training most losses are below a tenth. So what ships
is taught on dense features instead, and the grid serves to reproduce the paper.
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
"""Losses 0–10 by 0.1 and 10–30 by 1, as the authors' released code enumerates them."""

DIFFERENCES = torch.arange(-50, 50) / 10
"""Differences −5–5 by 0.1, as there. A step between two grid points is learnable exactly."""

_WOBBLES = torch.tensor([0.0, 0.1, 0.3, 1.0, 3.0])


def enumerate_features(
    count: int = 300_000, *, history: int = 1, num_classes: int = 10, seed: int = 0
) -> MentorFeatures:
    """`count` samples of the product of all losses, differences, labels and epochs.

    Of the current step every combination is as likely as any other, and ℓ_pt = loss −
    difference stays put over the history. The T − 1 losses before are, for one half of
    the samples, any losses of the grid, and for the other half the current loss with
    a wobble of one of five sizes: real samples change slowly as often as not.
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
        # The grid's own tenths, not a subtraction's: thresholds lie between grid points.
        ((loss - percentile) * 10).round() / 10,
        torch.randint(num_classes, (count,), generator=draw),
        torch.randint(PERCENT, (count,), generator=draw),
    )


def dense_features(
    count: int = 300_000, *, history: int = 1, num_classes: int = 10, seed: int = 0
) -> MentorFeatures:
    """`count` samples off the grid, as a student meets them from its first epoch to its last.

    Each sample has a scale s, from 0.01 to 20 and every power of ten as likely. Losses are
    exponential of mean s; so is ℓ_pt, but for one sample in four it lies close to the current
    loss, where curricula have their steps. Of the T − 1 losses before, one half are any losses
    of that scale and one half wobble around the current one. One sample in four is of the grid
    all the same, for the corners that students do not visit.
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
"""What a mentor can be taught on, by name."""
