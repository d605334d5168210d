"""The weighting whose implied loss is Huber's (Prop. 1, App. C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction, check_positive
from mentornet.features import MentorFeatures

__all__ = ["Huber"]


@dataclass(frozen=True)
class Huber(Curriculum):
    """v* = ½ for ℓ ≤ λ², λ/(2√ℓ) beyond, so that ρ(r²) is Huber's loss of a residual r.

        ρ(ℓ) = ½ ℓ           for ℓ ≤ λ²
             = λ (√ℓ − ½ λ)  beyond

    (App. C prints the first case of ρ(ℓ²) as ℓ ≤ λ²; it holds for ℓ ≤ λ.)

    Args:
        lambda1: λ > 0, the residual beyond which the loss grows only linearly.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.5, 1.0, 4.0]))
    >>> Huber()(z)
    tensor([0.5000, 0.5000, 0.2500])
    """

    name: ClassVar[str] = "huber"
    direction: ClassVar[Direction | None] = "decreasing"
    lambda1: float = 1.0

    def __post_init__(self) -> None:
        check_positive(lambda1=self.lambda1)

    def weight(self, features: MentorFeatures) -> Tensor:
        root = features.current_loss.sqrt().clamp(min=self.lambda1)
        return 0.5 * self.lambda1 / root

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        loss, bend = features.current_loss, self.lambda1
        return torch.where(loss <= bend**2, 0.5 * loss, bend * (loss.sqrt() - 0.5 * bend))
