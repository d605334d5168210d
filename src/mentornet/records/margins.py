"""Margins: how far the given label is ahead of the other classes, and how much that counts.

Shapes: B samples, K classes.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["MAX_MARGIN", "firmness", "log_odds", "margins_of", "mean_margin"]

MAX_MARGIN = 4.0
"""Larger margins count as this one: they only say how well a label was memorised."""

_PRIOR = 10  # samples that are assumed before any is seen
_LEAST = 1e-20  # weight, so that every sample that was seen has a margin


def log_odds(loss: Tensor) -> Tensor:
    """Return log p/(1 − p) of the given label from its loss ℓ = −log p, at most `MAX_MARGIN`.

    This is the margin over all other classes together, for use if only losses are known. It is NaN
    where the loss is.

    >>> log_odds(torch.tensor([2.0, 1.0]).log()).tolist()
    [0.0, 4.0]
    """
    loss = loss.clamp(min=math.log1p(math.exp(-MAX_MARGIN)))  # its log-odds are MAX_MARGIN
    return (-loss - (-torch.expm1(-loss)).log()).clamp(max=MAX_MARGIN)


def margins_of(logits: Tensor, label: Tensor) -> Tensor:
    """Return the margins z_y − max z_j over j ≠ y of the given labels y, `(B,)`.

    Args:
        logits: z, `(B, K)`.
        label: y, `(B,)`.

    >>> margins_of(torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 1.0]]), torch.tensor([0, 2])).tolist()
    [1.0, -4.0]
    """
    given = label[:, None]
    others = logits.scatter(1, given, -torch.inf).amax(1)
    return logits.gather(1, given)[:, 0] - others


def mean_margin(total: Tensor, weight: Tensor) -> Tensor:
    """Return Σ w m / Σ w from the two sums; NaN where nothing was seen.

    >>> mean_margin(torch.tensor([3.0, 0.0]), torch.tensor([2.0, 0.0]))
    tensor([1.5000,    nan])
    """
    return torch.where(weight > 0, total / weight, torch.nan)


def firmness(same: Tensor, met: Tensor, against_same: Tensor, against: Tensor) -> Tensor:
    """Return c⁶ d, the weight of a margin: how firmly the student holds its opinions at that time.

    c is the share of predictions that are the same as when the sample was last seen; d is that
    share among the predictions that differ from the given label. While the student learns, c rises,
    so later margins count more. When it begins to memorise wrong labels, it gives up predictions
    that differ from them, so d falls, and later margins count less.

    Args:
        same: the number of predictions that are the same as before.
        met: the number of predictions that have one before.
        against_same: the number of predictions that differ from the given label and are the same
            as before.
        against: the number that differ from the given label. If there are few, d is near c.

    >>> firmness(*torch.tensor([90.0, 90.0, 0.0, 0.0]))  # all 90 are the same
    tensor(0.4783)
    """
    constant = same / (met + _PRIOR)
    opposed = (against_same + _PRIOR * constant) / (against + _PRIOR)
    return (constant**6 * opposed).clamp(min=_LEAST)
