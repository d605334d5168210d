"""The recurrent network of App. D, which reads the samples of a batch one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from mentornet.features import MentorFeatures
from mentornet.mentors.fitting import FitConfig
from mentornet.mentors.lstm import LSTMEncoder
from mentornet.mentors.mentor import Mentor, MentorConfig

__all__ = ["BatchLSTMConfig", "BatchLSTMMentor"]


@dataclass(frozen=True)
class BatchLSTMConfig(MentorConfig):
    """Sizes of the recurrent network.

    Args:
        units: number of hidden units of the LSTM.
        run: the largest number of samples in one sequence. A batch of at most this size is read as
            one sequence; a larger one is split into sequences that are read in parallel. By default
            it is the batch size of a fit, so that a mentor is evaluated as it has learned.
    """

    units: int = 10
    run: int = FitConfig.batch_size


class BatchLSTMMentor(Mentor):
    """An LSTM that reads one sample of the batch after another.

    g_m = σ(fc(h_i)), h_i the state of an LSTM that has read samples 1 … i of its run.

    A weight thus depends on the samples that come before it in the batch. This is the only mentor
    that is not equivariant under permutation.
    """

    name: ClassVar[str] = "batch-lstm"
    config_type: ClassVar[type[MentorConfig]] = BatchLSTMConfig
    config: BatchLSTMConfig

    def build(self) -> None:
        inputs = 2 * self.config.history + 2
        self.lstm = LSTMEncoder(inputs, self.config.units, directions=1)
        self.fc = nn.Linear(self.config.units, 1)

    def score(self, features: MentorFeatures) -> Tensor:
        inputs = self._plain_inputs(features)
        run = max(1, min(self.config.run, features.batch_size))
        missing = -features.batch_size % run
        padded = nn.functional.pad(inputs, (0, 0, 0, missing))
        runs = padded.view(-1, run, inputs.shape[1])
        states = torch.stack(self.lstm.states(runs.permute(1, 2, 0)), dim=1)
        return self.fc(states.permute(2, 1, 0).flatten(0, 1))[: features.batch_size].squeeze(1)
