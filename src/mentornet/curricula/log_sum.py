"""The weighting whose implied loss is the log-sum penalty (Prop. 1, App. C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, Direction, check_positive
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures

__all__ = ["LogSum"]


@dataclass(frozen=True)
class LogSum(Curriculum):
    """v* = λ/(ℓ + ε), so that ρ(ℓ) = λ log(1 + ℓ/ε), the log-sum penalty (Candès et al. 2008).

    Args:
        lambda1: λ in (0, ε], so that v* stays in [0, 1].
        epsilon: ε > 0, the loss at which the weight is half of what it is at 0.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.0, 1.0, 3.0]))
    >>> LogSum()(z)
    tensor([1.0000, 0.5000, 0.2500])
    """

    name: ClassVar[str] = "log-sum"
    direction: ClassVar[Direction | None] = "decreasing"
    lambda1: float = 1.0
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        check_positive(lambda1=self.lambda1, epsilon=self.epsilon)
        if self.lambda1 > self.epsilon:
            raise MentorNetError(
                f"lambda1 must be ≤ epsilon for weights in [0, 1], "
                f"got lambda1 = {self.lambda1:g} and epsilon = {self.epsilon:g}"
            )

    def weight(self, features: MentorFeatures) -> Tensor:
        weight = self.lambda1 / (features.current_loss + self.epsilon)
        return weight.clamp(max=1)  # rounding in bfloat16 may exceed 1

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        return self.lambda1 * torch.log1p(features.current_loss / self.epsilon)
