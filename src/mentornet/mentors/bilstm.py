"""The MentorNet of the paper (Fig. 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors.lstm import LSTMEncoder
from mentornet.mentors.mentor import Mentor, MentorConfig

__all__ = ["BiLSTMConfig", "BiLSTMMentor"]


@dataclass(frozen=True)
class BiLSTMConfig(MentorConfig):
    """Sizes of the paper's network (App. D).

    Args:
        units: number of hidden units of the LSTM in each direction.
        label_embedding: size of the embedding of the given label.
        epoch_embedding: size of the embedding of the progress; the paper calls it epoch.
        hidden: number of outputs of fc1.
    """

    units: int = 10
    label_embedding: int = 2
    epoch_embedding: int = 5
    hidden: int = 20


class BiLSTMMentor(Mentor):
    """The MentorNet of the paper: an LSTM reads the last losses in both directions.

    g_m = σ(fc2(tanh(fc1([LSTM→(z), LSTM←(z), emb(label), emb(progress)])))).

    The bidirectional LSTM reads (ℓ, ℓ − ℓ_pt) over the last T steps; its two last
    hidden states and the embeddings of the label and of the progress are concatenated.
    """

    name: ClassVar[str] = "bilstm"
    config_type: ClassVar[type[MentorConfig]] = BiLSTMConfig
    config: BiLSTMConfig

    def build(self) -> None:
        sizes = self.config
        self.lstm = LSTMEncoder(inputs=2, units=sizes.units)
        self.label = nn.Embedding(sizes.num_classes, sizes.label_embedding)
        self.epoch = nn.Embedding(PERCENT, sizes.epoch_embedding)
        width = 2 * sizes.units + sizes.label_embedding + sizes.epoch_embedding
        self.fc1 = nn.Linear(width, sizes.hidden)
        self.fc2 = nn.Linear(sizes.hidden, 1)

    def score(self, features: MentorFeatures) -> Tensor:
        sequence = torch.stack([features.loss.T, features.difference.T], dim=1)
        encoded = self.lstm(sequence).T
        joined = torch.cat(
            [encoded, self.label(features.label), self.epoch(features.progress)], dim=1
        )
        return self.fc2(torch.tanh(self.fc1(joined))).squeeze(1)

    @torch.no_grad()
    def share_label(self, classes: Tensor, source: int) -> None:
        self.label.weight[classes] = self.label.weight[source].clone()
