"""Hard negative mining: only hard samples count (Felzenszwalb et al. 2010; App. D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction, check_not_negative
from mentornet.curricula.thresholds import excess, threshold
from mentornet.features import MentorFeatures

__all__ = ["HardNegativeMining"]


@dataclass(frozen=True)
class HardNegativeMining(Curriculum):
    """v* = 1(ℓ ≥ λ), the opposite of self-paced learning; ρ(ℓ) = max(ℓ − λ, 0).

    Args:
        lambda1: λ ≥ 0, the threshold of the loss.
        relative: whether λ is added to the student's loss level ℓ_pt.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.5, 1.0, 3.0]), loss_level=1.0)
    >>> HardNegativeMining()(z)
    tensor([0., 1., 1.])
    """

    name: ClassVar[str] = "hard-negative-mining"
    direction: ClassVar[Direction | None] = "increasing"
    lambda1: float = 0.0
    relative: bool = True

    def __post_init__(self) -> None:
        check_not_negative(lambda1=self.lambda1)

    def weight(self, features: MentorFeatures) -> Tensor:
        above = excess(features, self.lambda1, relative=self.relative)
        return (above >= 0).to(above.dtype)

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        limit = threshold(features, self.lambda1, relative=self.relative).clamp(min=0)
        return torch.relu(features.current_loss - limit)
