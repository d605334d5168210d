"""Self-paced learning: only easy samples count (Kumar et al. 2010; Eq. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction, check_not_negative
from mentornet.curricula.thresholds import excess, threshold
from mentornet.features import MentorFeatures

__all__ = ["SelfPaced"]


@dataclass(frozen=True)
class SelfPaced(Curriculum):
    """v* = 1(ℓ ≤ λ), the minimiser of v·ℓ + G(v) for G(v; λ) = −λ v (Eq. 2).

    It implies the truncated loss ρ(ℓ) = min(ℓ, λ).

    Args:
        lambda1: λ ≥ 0, the threshold of the loss.
        relative: whether λ is added to the student's loss level ℓ_pt; not so in Eq. 2.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.5, 1.0, 3.0]), loss_level=1.0)
    >>> SelfPaced()(z)
    tensor([1., 1., 0.])
    """

    name: ClassVar[str] = "self-paced"
    direction: ClassVar[Direction | None] = "decreasing"
    lambda1: float = 0.0
    relative: bool = True

    def __post_init__(self) -> None:
        check_not_negative(lambda1=self.lambda1)

    def weight(self, features: MentorFeatures) -> Tensor:
        above = excess(features, self.lambda1, relative=self.relative)
        return (above <= 0).to(above.dtype)

    def penalty(self, weight: Tensor, features: MentorFeatures) -> Tensor:
        return -threshold(features, self.lambda1, relative=self.relative) * weight

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        limit = threshold(features, self.lambda1, relative=self.relative).clamp(min=0)
        return torch.minimum(features.current_loss, limit)
