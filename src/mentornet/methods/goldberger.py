"""The S-model: a noise layer after the student (Goldberger and Ben-Reuven 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError

__all__ = ["NoiseLayer"]


class NoiseLayer(nn.Module):
    """log P(given j | x) = log Σᵢ θ[i, j] P(true i | x), with θ = softmax of a K × K matrix.

    The layer learns how classes are mistaken for one another, and is left off at test time:
    the student then predicts the true class. It starts near the identity, θ[i, i] = 1 − p and
    p shared among the others, which with p = 0 would never move.

    Args:
        classes: K.
        rate: p in (0, 1), the noise that it starts from.
    """

    def __init__(self, classes: int, rate: float = 0.1) -> None:
        super().__init__()
        if not 0 < rate < 1:
            raise MentorNetError(f"the noise rate to start from must be in (0, 1), got {rate:g}")
        start = torch.full((classes, classes), rate / (classes - 1)).fill_diagonal_(1 - rate)
        self.scores = nn.Parameter(start.log())

    def forward(self, logits: Tensor) -> Tensor:
        """Log-probabilities of the given label `(B, K)`, from the student's logits `(B, K)`."""
        true = logits.log_softmax(1)
        return torch.logsumexp(true[:, :, None] + self.scores.log_softmax(1), dim=1)
