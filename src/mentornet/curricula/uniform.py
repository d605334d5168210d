"""No curriculum: every sample has weight 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction
from mentornet.features import MentorFeatures

__all__ = ["Uniform"]


@dataclass(frozen=True)
class Uniform(Curriculum):
    """v* = 1 and ρ(ℓ) = ℓ: plain training, the baseline the paper calls FullModel.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.1, 9.0]))
    >>> Uniform()(z)
    tensor([1., 1.])
    """

    name: ClassVar[str] = "uniform"
    direction: ClassVar[Direction | None] = "decreasing"

    def weight(self, features: MentorFeatures) -> Tensor:
        return torch.ones_like(features.current_loss)

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        return features.current_loss
