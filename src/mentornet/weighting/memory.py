"""A moving average of the predictions of each sample, and a term that stays close to it."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["PredictionMemory", "clipped", "early_learning_term"]

_LEAST = 1e-4  # probabilities are clipped to this distance from 0 and 1


class PredictionMemory:
    """t ← β t + (1 − β) p for the samples of each batch; it stores N × K numbers.

    Args:
        count: N, the number of training samples.
        classes: K.
        decay: β in [0, 1).
        device: the device of the predictions.
    """

    def __init__(
        self, count: int, classes: int, decay: float, device: torch.device | str = "cpu"
    ) -> None:
        self.average = torch.zeros(count, classes, device=device)
        self.decay = decay

    def add(self, index: Tensor, prediction: Tensor) -> Tensor:
        """Update t of the samples at `index` by p, `(B, K)`, and return it."""
        moved = self.decay * self.average[index] + (1 - self.decay) * prediction.float()
        self.average[index] = moved
        return moved

    def shares(self, index: Tensor) -> Tensor:
        """Return t scaled to sum 1, `(B, K)`; uniform for samples that were never seen."""
        average = self.average[index]
        total = average.sum(1, keepdim=True)
        even = torch.full_like(average, 1 / average.shape[1])
        return torch.where(total > 0, average / total.clamp(min=1e-12), even)


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
