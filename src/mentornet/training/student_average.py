"""A moving average of the student's parameters, for methods that need one."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

__all__ = ["StudentAverage"]


class StudentAverage:
    """w̄ ← d w̄ + (1 − d) w after every step; buffers such as running statistics are copied.

    Args:
        student: the student, whose parameters w are the first w̄.
        decay: d in [0, 1).
    """

    def __init__(self, student: nn.Module, decay: float) -> None:
        self.module, self.decay = copy.deepcopy(student).requires_grad_(False), decay

    @torch.no_grad()
    def update(self, student: nn.Module) -> None:
        """Update the average by the student's parameters after a step."""
        for average, weight in zip(self.module.parameters(), student.parameters(), strict=True):
            average.lerp_(weight, 1 - self.decay)
        for kept, buffer in zip(self.module.buffers(), student.buffers(), strict=True):
            kept.copy_(buffer)

    @torch.no_grad()
    def __call__(self, inputs: Tensor) -> Tensor:
        """Return the logits of the averaged student, `(B, K)`."""
        self.module.eval()
        logits: Tensor = self.module(inputs)
        return logits
