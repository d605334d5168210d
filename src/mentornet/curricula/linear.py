"""Linear weighting, the curriculum of the paper (Eq. 5–7; Jiang et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction, check_not_negative
from mentornet.curricula.thresholds import excess, threshold
from mentornet.features import MentorFeatures

__all__ = ["Linear"]


@dataclass(frozen=True)
class Linear(Curriculum):
    """v* = clip(1 − (ℓ − λ₁)/λ₂, 0, 1), and 1(ℓ ≤ λ₁) when λ₂ = 0 (Eq. 7).

    It minimises f(v) = v·ℓ + G(v) (Eq. 6) for G(v; λ) = ½ λ₂ v² − (λ₁ + λ₂) v (Eq. 5).
    The loss that it implies is F_λ of Remark 1 (Eq. 11), with θ = (λ₁ + λ₂)/λ₂:

        ρ(ℓ) = ℓ                                 for ℓ ≤ λ₁
             = θ ℓ − ℓ²/(2 λ₂) − (θ − 1)² λ₂/2   in between
             = λ₁ + λ₂/2                         for ℓ ≥ λ₁ + λ₂

    For θ = 1, that is λ₁ = 0, this is the minimax concave penalty.

    Args:
        lambda1: λ₁ ≥ 0, the loss up to which the weight is 1.
        lambda2: λ₂ ≥ 0; the weight falls to 0 between λ₁ and λ₁ + λ₂.
        relative: whether λ₁ is added to the student's loss level ℓ_pt; not so in Eq. 7.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.5, 1.5, 3.0]))
    >>> Linear(lambda1=1.0, lambda2=2.0)(z)
    tensor([1.0000, 0.7500, 0.0000])
    """

    name: ClassVar[str] = "linear"
    direction: ClassVar[Direction | None] = "decreasing"
    lambda1: float = 1.0
    lambda2: float = 1.0
    relative: bool = False

    def __post_init__(self) -> None:
        check_not_negative(lambda1=self.lambda1, lambda2=self.lambda2)

    def weight(self, features: MentorFeatures) -> Tensor:
        above = excess(features, self.lambda1, relative=self.relative)
        if self.lambda2 == 0:
            return (above <= 0).to(above.dtype)
        return (1 - above / self.lambda2).clamp(0, 1)

    def penalty(self, weight: Tensor, features: MentorFeatures) -> Tensor:
        lambda1 = threshold(features, self.lambda1, relative=self.relative)
        return 0.5 * self.lambda2 * weight**2 - (lambda1 + self.lambda2) * weight

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        # ρ is ℓ up to λ₁; beyond it, the area under the ramp is added. A relative λ₁ may lie
        # below 0; the part of the ramp to the left of ℓ = 0 is then cut off.
        lambda1 = threshold(features, self.lambda1, relative=self.relative)
        full = torch.minimum(features.current_loss, lambda1.clamp(min=0))
        if self.lambda2 == 0:
            return full
        start = (-lambda1).clamp(0, self.lambda2)
        end = torch.maximum((features.current_loss - lambda1).clamp(0, self.lambda2), start)
        ramp = (end - start) - (end**2 - start**2) / (2 * self.lambda2)
        return full + ramp
