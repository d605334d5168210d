"""The S-model: a noise layer after the student (Goldberger and Ben-Reuven 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Outputs, Supervision

__all__ = ["Goldberger", "NoiseLayer"]


class NoiseLayer(nn.Module):
    """log P(given j | x) = log Σᵢ θ[i, j] P(true i | x), with θ = softmax of a K × K matrix.

    The layer learns how classes are mistaken for one another, and is left off at test time:
    the student then predicts the true class. It starts near the identity, θ[i, i] = 1 − p and
    p shared among the others, which with p = 0 would never move.

    Args:
        classes: K.
        rate: p in (0, 1), the noise that it starts from.
    """

    def __init__(self, classes: int, rate: float = 0.1) -> None:
        super().__init__()
        if not 0 < rate < 1:
            raise MentorNetError(f"the noise rate to start from must be in (0, 1), got {rate:g}")
        start = torch.full((classes, classes), rate / (classes - 1)).fill_diagonal_(1 - rate)
        self.scores = nn.Parameter(start.log())

    def forward(self, logits: Tensor) -> Tensor:
        """Log-probabilities of the given label `(B, K)`, from the student's logits `(B, K)`."""
        true = logits.log_softmax(1)
        return torch.logsumexp(true[:, :, None] + self.scores.log_softmax(1), dim=1)


class _Goldberger(Supervision):
    def __init__(self, layer: NoiseLayer) -> None:
        self.layer = layer

    def losses(self, said: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return nn.functional.nll_loss(self.layer(said.logits), label, reduction="none")

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.layer.parameters()

    def state_dict(self) -> dict[str, Any]:
        return {"layer": self.layer.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.layer.load_state_dict(state["layer"])


@dataclass(frozen=True)
class Goldberger(Method):
    """The student with a noise layer after it while it trains; see `NoiseLayer`.

    Args:
        rate: the noise that the layer starts from.
    """

    name: ClassVar[str] = "goldberger"
    title: ClassVar[str] = "Goldberger"
    summary: ClassVar[str] = "a noise layer after the student (Goldberger and Ben-Reuven 2017)"
    rate: float = 0.1

    def __post_init__(self) -> None:
        NoiseLayer(2, self.rate)

    def start(self, task: Task) -> Supervision:
        return _Goldberger(NoiseLayer(task.classes, self.rate).to(task.device))
