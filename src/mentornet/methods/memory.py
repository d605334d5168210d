"""A moving average of the student's predictions for each sample."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["PredictionMemory"]


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
