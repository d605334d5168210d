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

    The layer learns how classes are confused with one another. It is removed at test time, so that
    the student predicts the true class. It starts with θ[i, i] = 1 − p, and p divided equally among
    the other classes; with p = 0 its gradient would be 0.

    Args:
        classes: K.
        rate: p in (0, 1), the noise rate at the start.
    """

    def __init__(self, classes: int, rate: float = 0.1) -> None:
        super().__init__()
        if not 0 < rate < 1:
            raise MentorNetError(f"rate must be in (0, 1), got {rate:g}")
        start = torch.full((classes, classes), rate / (classes - 1)).fill_diagonal_(1 - rate)
        self.scores = nn.Parameter(start.log())

    def forward(self, logits: Tensor) -> Tensor:
        """Return log-probabilities of the given label, `(B, K)`, from the student's logits."""
        true = logits.log_softmax(1)
        return torch.logsumexp(true[:, :, None] + self.scores.log_softmax(1), dim=1)


class _Goldberger(Supervision):
    def __init__(self, layer: NoiseLayer) -> None:
        self.layer = layer

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return nn.functional.nll_loss(self.layer(outputs.logits), label, reduction="none")

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.layer.parameters()

    def state_dict(self) -> dict[str, Any]:
        return {"layer": self.layer.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.layer.load_state_dict(state["layer"])


@dataclass(frozen=True)
class Goldberger(Method):
    """A noise layer follows the student while it trains; see `NoiseLayer`.

    Args:
        rate: the noise rate of the layer at the start, in (0, 1).
    """

    name: ClassVar[str] = "goldberger"
    title: ClassVar[str] = "Goldberger"
    summary: ClassVar[str] = "a noise layer after the student (Goldberger and Ben-Reuven 2017)"
    rate: float = 0.1

    def __post_init__(self) -> None:
        NoiseLayer(2, self.rate)

    def start(self, task: Task) -> Supervision:
        return _Goldberger(NoiseLayer(task.classes, self.rate).to(task.device))
