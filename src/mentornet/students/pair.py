"""Two students that are trained together."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Pair", "answering"]


def answering(student: nn.Module) -> nn.Module:
    """Return the student that predicts after training: the first one of a pair."""
    return student.first if isinstance(student, Pair) else student


class Pair(nn.Module):
    """Returns the logits of both students in training, `(B, 2, K)`, else of the first, `(B, K)`.

    Args:
        first: the student that predicts after training.
        second: a student of the same kind with other initial parameters.
    """

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            logits: Tensor = self.first(images)
            return logits
        return torch.stack([self.first(images), self.second(images)], 1)

    @property
    def auxiliary_logits(self) -> Tensor | None:
        """The logits of the auxiliary heads of both students, `(B, 2, K)`; None without heads."""
        pair: tuple[Any, Any] = self.first, self.second
        heads = [getattr(student, "auxiliary_logits", None) for student in pair]
        found = [head for head in heads if head is not None]
        return torch.stack(found, 1) if len(found) == len(heads) else None

    @property
    def auxiliary_share(self) -> float:
        """The share of the auxiliary heads in the loss."""
        return float(getattr(self.first, "auxiliary_share", 0.0))

    def prepare(self, images: Tensor) -> None:
        """Call `prepare` of both students, if they have it, with some training images."""
        for student in (self.first, self.second):
            prepare = getattr(student, "prepare", None)
            if prepare is not None:
                prepare(images)
