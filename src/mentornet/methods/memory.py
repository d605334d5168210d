"""What a student has predicted for each sample so far, as a moving average."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["PredictionMemory"]


class PredictionMemory:
    """t ← β t + (1 − β) p for the samples of a batch; N K numbers in all.

    Args:
        count: N.
        classes: K.
        decay: β in [0, 1).
        device: where the predictions are.
    """

    def __init__(
        self, count: int, classes: int, decay: float, device: torch.device | str = "cpu"
    ) -> None:
        self.average = torch.zeros(count, classes, device=device)
        self.decay = decay

    def add(self, index: Tensor, prediction: Tensor) -> Tensor:
        """Take in p `(B, K)` of the samples at `index`, and return their t."""
        moved = self.decay * self.average[index] + (1 - self.decay) * prediction.float()
        self.average[index] = moved
        return moved

    def shares(self, index: Tensor) -> Tensor:
        """T brought to sum 1, `(B, K)`; equal shares for what was never seen."""
        average = self.average[index]
        total = average.sum(1, keepdim=True)
        even = torch.full_like(average, 1 / average.shape[1])
        return torch.where(total > 0, average / total.clamp(min=1e-12), even)
