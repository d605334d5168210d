"""Supervision by the weighting engine, which all methods that weight samples share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Outputs, Supervision
from mentornet.weighting import (
    Evidence,
    LearnedMentor,
    Outcome,
    Weighting,
    WeightingConfig,
    loss_on_another_class,
)

__all__ = ["Weighted", "WeightingMethod"]


class Weighted(Supervision):
    """The cross-entropy with the weights of the engine.

    Args:
        engine: the engine, before its first step.
        task: the task of the run.
        pace: the step size of an explicit step on v, as a multiple of the learning rate.
    """

    weighs = True

    def __init__(self, engine: Weighting, task: Task, *, pace: float = 1.0) -> None:
        self.engine, self.pace = engine.to(task.device), pace
        self.known, self.reads_wrong = engine.known, engine.noise is not None
        self._told = 0

    def wrong_losses(self, outputs: Outputs, predicted: Tensor, first: int) -> Tensor:
        engine = self.engine
        return loss_on_another_class(
            outputs.log_p.detach(), predicted, step=engine.step, first=first
        )

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        return self.engine.weigh(evidence, learning_rate=self.pace * learning_rate)

    def metrics(self) -> Mapping[str, Tensor | float]:
        metrics = {"loss_level": self.engine.level.value}
        if self.engine.auto is not None and self.engine.noise is not None:
            metrics["noise_rate"] = self.engine.noise.rate
        return metrics

    def learned(self) -> Mapping[str, LearnedMentor]:
        return {} if self.engine.learning is None else self.engine.learning.mentors

    def notes(self) -> list[str]:
        fresh, self._told = self.engine.outcomes[self._told :], len(self.engine.outcomes)
        return [f"{outcome}" for outcome in fresh]

    def outcomes(self) -> list[Outcome]:
        return self.engine.outcomes

    def state_dict(self) -> dict[str, Any]:
        return {"engine": self.engine.state_dict(), "told": self._told}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.engine.load_state_dict(state["engine"])
        self._told = state["told"]


@dataclass(frozen=True)
class WeightingMethod(Method):
    """The settings that all methods with the engine share; see `WeightingConfig`.

    Args:
        percentile: p of the loss level ℓ_pt, in [0, 1].
        decay: decay of the moving average ℓ_pt, in [0, 1).
        burn_in: share of training in which samples are only dropped at random.
        burn_in_drop: share of samples that burn-in drops.
        drop: share of samples dropped at random after burn-in.
        half_history: whether to store the history of losses as float16 (mentors with T > 1).
        smoothing: decay of the moving average of each sample's loss, in [0, 1).
        sharpness: how strongly weights are pushed to 0 or 1; 0 leaves them as they are.
        decided_by: share of training after which `sharpness` has its full effect.
    """

    percentile: float = WeightingConfig.percentile
    decay: float = WeightingConfig.decay
    burn_in: float = WeightingConfig.burn_in
    burn_in_drop: float = WeightingConfig.burn_in_drop
    drop: float = WeightingConfig.drop
    half_history: bool = False
    smoothing: float = WeightingConfig.smoothing
    sharpness: float = WeightingConfig.sharpness
    decided_by: float = WeightingConfig.decided_by

    def __post_init__(self) -> None:
        self.weighting()

    def weighting(self) -> WeightingConfig:
        """Return these settings as the config of the engine."""
        return WeightingConfig(
            self.percentile, self.decay, self.burn_in, self.burn_in_drop, self.drop,
            self.smoothing, self.sharpness, self.decided_by,
        )  # fmt: skip
