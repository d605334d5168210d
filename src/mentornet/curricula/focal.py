"""Focal weighting: samples that are not yet learned count more (Lin et al. 2017; Eq. 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction, check_not_negative
from mentornet.features import MentorFeatures

__all__ = ["Focal"]


@dataclass(frozen=True)
class Focal(Curriculum):
    """v* = (1 − e^(−ℓ))^γ (Eq. 8), where e^(−ℓ) is the predicted probability of the given label.

    Args:
        gamma: γ ≥ 0; the larger, the less easy samples count. With 0 all weights are 1.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.0, 0.6931, 4.0]))
    >>> Focal(gamma=1.0)(z)
    tensor([0.0000, 0.5000, 0.9817])
    """

    name: ClassVar[str] = "focal"
    direction: ClassVar[Direction | None] = "increasing"
    gamma: float = 2.0

    def __post_init__(self) -> None:
        check_not_negative(gamma=self.gamma)

    def weight(self, features: MentorFeatures) -> Tensor:
        return (-torch.expm1(-features.current_loss)) ** self.gamma
