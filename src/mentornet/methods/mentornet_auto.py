"""MentorNet that finds the noise rate by itself: `MentorLoss` as the trainer runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.data import Batch
from mentornet.methods.method import Judged, Method, Supervision, Task
from mentornet.weighting import MentorLoss, SpadeConfig

__all__ = ["MentorNetAuto"]


@dataclass(frozen=True)
class MentorNetAuto(Method):
    """The predefined curriculum around the percentile 1 − 1.2 ε, with ε estimated as training goes.

    Nothing has to be known of the labels. See `mentornet.MentorLoss`.

    Args:
        burn_in: share of training after which it begins at the latest.
        by_class: whether each sample is compared with its own class, for rare classes.
    """

    name: ClassVar[str] = "mentornet-auto"
    title: ClassVar[str] = "MentorNet auto"
    burn_in: float = SpadeConfig.burn_in
    by_class: bool = False

    def __post_init__(self) -> None:
        SpadeConfig(burn_in=self.burn_in)

    def start(self, task: Task) -> Supervision:
        criterion = MentorLoss(
            total_steps=task.total_steps, burn_in=self.burn_in,
            by_class=task.classes if self.by_class else None, seed=task.seed,
        )  # fmt: skip
        return DropIn(criterion.to(task.device))


class DropIn(Supervision):
    """The weights of a `MentorLoss`.

    Args:
        criterion: at its first step.
    """

    weighs = True

    def __init__(self, criterion: MentorLoss) -> None:
        self.criterion = criterion

    def judge(self, losses: Tensor, logits: Tensor, batch: Batch, learning_rate: float) -> Judged:
        weights = self.weigh(losses, logits, batch)
        seen, predicted, margins = self.exchange(losses, logits, batch)
        (weights,) = self.processes.gather([weights], len(batch.whole.index))
        return Judged(seen, weights, predicted, margins)

    def weigh(self, losses: Tensor, logits: Tensor, batch: Batch) -> Tensor:
        """v, `(B,)`, from the losses and what was predicted."""
        return self.criterion.weigh(
            losses, batch.given_label, index=batch.index, logits=logits,
            whole=len(batch.whole.index),
        )  # fmt: skip

    def figures(self) -> Mapping[str, Tensor | float]:
        spade, noise = self.criterion.spade, self.criterion.noise
        return {"loss_percentile": spade.level.value, "noise_rate": noise.rate}

    def state_dict(self) -> dict[str, Any]:
        return {"criterion": self.criterion.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.criterion.load_state_dict(state["criterion"])
