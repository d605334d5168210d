"""The weighting whose implied loss is the Lorentzian (App. C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, check_positive
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures

__all__ = ["Lorentzian"]


@dataclass(frozen=True)
class Lorentzian(Curriculum):
    """v* = 2ℓ/(2δ² + ℓ²), so that ρ(ℓ) = log(1 + ½ (ℓ/δ)²) (Black and Anandan 1996).

    The weight rises up to ℓ = √2 δ, where it is 1/(√2 δ), and falls beyond. The paper takes δ so
    small that every loss lies beyond that point. Some weights then exceed 1, so δ is bounded here.

    Args:
        delta: δ ≥ 1/√2, so that v* stays in [0, 1].

    >>> z = MentorFeatures.from_loss(torch.tensor([0.0, 1.0, 4.0]))
    >>> Lorentzian()(z)
    tensor([0.0000, 0.6667, 0.4444])
    """

    name: ClassVar[str] = "lorentzian"
    delta: float = 1.0

    def __post_init__(self) -> None:
        check_positive(delta=self.delta)
        if self.delta < 0.5**0.5:
            raise MentorNetError(
                f"delta must be ≥ 1/√2 ≈ 0.7072 for weights in [0, 1], got {self.delta:g}"
            )

    def weight(self, features: MentorFeatures) -> Tensor:
        loss = features.current_loss
        return 2 * loss / (2 * self.delta**2 + loss**2)

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        return torch.log1p(0.5 * (features.current_loss / self.delta) ** 2)
