"""Two students that are trained side by side."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Pair", "answering"]


def answering(student: nn.Module) -> nn.Module:
    """The one student that answers when all is done: of a pair the first."""
    return student.first if isinstance(student, Pair) else student


class Pair(nn.Module):
    """Both make logits while they train, `(B, 2, K)`; asked later, the first one answers, `(B, K)`.

    Args:
        first: a student.
        second: another of its kind, with starting values of its own.
    """

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            logits: Tensor = self.first(images)
            return logits
        return torch.stack([self.first(images), self.second(images)], 1)

    def prepare(self, images: Tensor) -> None:
        """Show both of them some images before they are trained."""
        for student in (self.first, self.second):
            prepare = getattr(student, "prepare", None)
            if prepare is not None:
                prepare(images)
