"""Logistic regression, the simplest mentor of App. D."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from mentornet.features import MentorFeatures
from mentornet.mentors.mentor import Mentor, MentorConfig

__all__ = ["LogisticMentor"]


class LogisticMentor(Mentor):
    """Logistic regression on the features.

    g_m = σ(wᵀz + b) over the plain numbers.
    """

    name: ClassVar[str] = "logistic"
    config_type: ClassVar[type[MentorConfig]] = MentorConfig

    def build(self) -> None:
        self.fc = nn.Linear(2 * self.config.history + 2, 1)

    def score(self, features: MentorFeatures) -> Tensor:
        return self.fc(self._plain_inputs(features)).squeeze(1)
