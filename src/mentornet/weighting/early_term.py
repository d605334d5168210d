"""The term of early-learning regularisation (Liu et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["clipped", "early_learning_term"]

_LEAST = 1e-4  # probabilities are clipped to this distance from 0 and 1


def early_learning_term(p: Tensor, target: Tensor) -> Tensor:
    """Return log(1 − ⟨p, t⟩), one value per sample; its gradient pulls p towards t.

    Args:
        p: the predicted probabilities, `(B, K)`.
        target: t, `(B, K)`, a moving average of earlier predictions; it gets no gradient.

    >>> early_learning_term(torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 0.0]]))  # log ½
    tensor([-0.6931])
    """
    return torch.log((1 - (p * target.detach()).sum(1)).clamp(min=_LEAST))


def clipped(p: Tensor) -> Tensor:
    """Return probabilities that are neither 0 nor 1, so that logarithms stay finite."""
    return p.clamp(_LEAST, 1 - _LEAST)
