"""Prediction variance: unsteady predictions count more (Chang et al. 2017; App. D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, check_not_negative
from mentornet.features import MentorFeatures

__all__ = ["PredictionVariance"]


@dataclass(frozen=True)
class PredictionVariance(Curriculum):
    """v* = (s + ε)/(s_max + ε), s = √(σ² + σ⁴/(T − 1)), σ² = var_t e^(−ℓ_t).

    e^(−ℓ_t) is the probability of the given label t steps ago; s is the standard deviation of
    Chang et al. with its confidence term. They divide by the batch's mean of s. We divide by
    s_max = √(¼ + 1/(16 (T − 1))), the largest s of T probabilities, so that v* depends only on
    the sample and lies in [0, 1].

    Args:
        epsilon: ε ≥ 0; with ε > 0 a sample of variance 0 still has a weight above 0.

    >>> z = MentorFeatures.from_loss(torch.tensor([[0.1, 0.1, 0.1], [0.1, 3.0, 0.1]]))
    >>> PredictionVariance()(z)
    tensor([0.1586, 0.8236])
    """

    name: ClassVar[str] = "prediction-variance"
    min_history: ClassVar[int] = 2
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_not_negative(epsilon=self.epsilon)

    def weight(self, features: MentorFeatures) -> Tensor:
        probability = torch.exp(-features.loss)
        variance = probability.var(dim=1, correction=0)
        count = features.history - 1
        deviation = (variance + variance**2 / count).sqrt()
        most = (0.25 + 0.0625 / count) ** 0.5
        return ((deviation + self.epsilon) / (most + self.epsilon)).clamp(max=1)
