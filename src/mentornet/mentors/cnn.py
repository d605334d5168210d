"""The two-layer convolutional network with mean pooling of App. D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from mentornet.features import MentorFeatures
from mentornet.mentors.mentor import Mentor, MentorConfig

__all__ = ["CNNConfig", "CNNMentor"]


@dataclass(frozen=True)
class CNNConfig(MentorConfig):
    """Sizes of the convolutions.

    Args:
        channels: number of output channels of each convolution.
        width: number of steps that a kernel spans.
    """

    channels: int = 20
    width: int = 3


class CNNMentor(Mentor):
    """Two convolutions over the last losses of a sample.

    g_m = σ(fc(mean_t(tanh(conv2(tanh(conv1(z))))))).

    It convolves over the T steps; at every step it sees loss, difference, label and
    progress. The pooling makes it blind to when a loss occurred.
    """

    name: ClassVar[str] = "cnn"
    config_type: ClassVar[type[MentorConfig]] = CNNConfig
    config: CNNConfig

    def build(self) -> None:
        channels, width = self.config.channels, self.config.width
        self.conv1 = nn.Conv1d(4, channels, width, padding="same")
        self.conv2 = nn.Conv1d(channels, channels, width, padding="same")
        self.fc = nn.Linear(channels, 1)

    def score(self, features: MentorFeatures) -> Tensor:
        constant = self._scaled(features)[:, :, None].expand(-1, -1, features.history)
        steps = torch.cat([torch.stack([features.loss, features.difference], 1), constant], 1)
        convolved = torch.tanh(self.conv2(torch.tanh(self.conv1(steps))))
        return self.fc(convolved.mean(dim=2)).squeeze(1)
