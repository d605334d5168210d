"""Enumerating the feature space, to teach a mentor a predefined curriculum (App. D)."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.features import EPOCHS, MentorFeatures
from mentornet.randomness import generator

__all__ = ["DIFFERENCES", "LOSSES", "enumerate_features"]

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
        torch.randint(EPOCHS, (count,), generator=draw),
    )
