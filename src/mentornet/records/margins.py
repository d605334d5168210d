"""Margins: by how much a label leads the others, and how much that counts.

Shapes: B samples, K classes.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["MOST", "firmness", "log_odds", "margins_of", "weighed_mean"]

MOST = 4.0
"""Margins above this count as this: how well a label is known by heart says no more."""

_PRIOR = 10  # samples, before any is seen
_LEAST = 1e-20  # so that a sample that was seen has a margin


def log_odds(loss: Tensor) -> Tensor:
    """Log p/(1 − p) of the given label, from ℓ = −log p, at most `MOST`; NaN where ℓ is.

    It is the margin over all other classes together, where only losses are known.

    >>> log_odds(torch.tensor([2.0, 1.0]).log()).tolist()
    [0.0, 4.0]
    """
    loss = loss.clamp(min=math.log1p(math.exp(-MOST)))  # the loss whose odds are MOST
    return (-loss - (-torch.expm1(-loss)).log()).clamp(max=MOST)


def margins_of(logits: Tensor, label: Tensor) -> Tensor:
    """z_y − max z_j over j ≠ y: by how much the given label leads, `(B,)`, from `(B, K)`.

    >>> margins_of(torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 1.0]]), torch.tensor([0, 2])).tolist()
    [1.0, -4.0]
    """
    given = label[:, None]
    others = logits.scatter(1, given, -torch.inf).amax(1)
    return logits.gather(1, given)[:, 0] - others


def weighed_mean(total: Tensor, weight: Tensor) -> Tensor:
    """Σ w m / Σ w from the two sums; NaN where nothing was seen.

    >>> weighed_mean(torch.tensor([3.0, 0.0]), torch.tensor([2.0, 0.0]))
    tensor([1.5000,    nan])
    """
    return torch.where(weight > 0, total / weight, torch.nan)


def firmness(same: Tensor, met: Tensor, against_same: Tensor, against: Tensor) -> Tensor:
    """c⁶ d, by which a margin counts: how firmly the student holds its opinions at that time.

    c is the share of predictions that are what they were when the sample was last seen; d the same
    of those that are against the given label. While the student learns, c rises, and later margins
    say more. When it begins to learn wrong labels by heart, what is against them gives way, so d
    falls, and they say less.

    Args:
        same: how many predictions are as before.
        met: of how many.
        against_same: how many that are against the given label are as before.
        against: of how many; where these are few, d is drawn towards c.

    >>> firmness(*torch.tensor([90.0, 90.0, 0.0, 0.0]))  # c = d = 0.9: at first ten count as no
    tensor(0.4783)
    """
    constant = same / (met + _PRIOR)
    opposed = (against_same + _PRIOR * constant) / (against + _PRIOR)
    return (constant**6 * opposed).clamp(min=_LEAST)
