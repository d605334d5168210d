"""The two-layer perceptron of App. D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from mentornet.features import MentorFeatures
from mentornet.mentors.mentor import Mentor, MentorConfig

__all__ = ["MLPConfig", "MLPMentor"]


@dataclass(frozen=True)
class MLPConfig(MentorConfig):
    """Sizes of the perceptron.

    Args:
        hidden: number of outputs of fc1; by default as many as in the MentorNet (`bilstm`).
    """

    hidden: int = 20


class MLPMentor(Mentor):
    """A network of two layers on the features.

    g_m = σ(fc2(tanh(fc1(z)))) over the plain numbers.
    """

    name: ClassVar[str] = "mlp"
    config_type: ClassVar[type[MentorConfig]] = MLPConfig
    config: MLPConfig

    def build(self) -> None:
        self.fc1 = nn.Linear(2 * self.config.history + 2, self.config.hidden)
        self.fc2 = nn.Linear(self.config.hidden, 1)

    def score(self, features: MentorFeatures) -> Tensor:
        return self.fc2(torch.tanh(self.fc1(self._plain_inputs(features)))).squeeze(1)
