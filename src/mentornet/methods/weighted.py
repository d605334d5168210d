"""Supervision by the weighting engine: what all methods that weight samples share."""

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
    """The weights of the engine on the cross-entropy.

    Args:
        engine: at its first step.
        task: of the run.
        pace: what the learning rate is multiplied by for an explicit step on v.
    """

    weighs = True

    def __init__(self, engine: Weighting, task: Task, *, pace: float = 1.0) -> None:
        self.engine, self.pace = engine.to(task.device), pace
        self.known, self.reads_wrong = engine.known, engine.noise is not None
        self._told = 0

    def wrong_losses(self, said: Outputs, predicted: Tensor, first: int) -> Tensor:
        engine = self.engine
        return loss_on_another_class(
            said.log_p.detach(), predicted, seed=engine.seed, step=engine.step, first=first
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
    """The settings that all methods on the engine share; see `WeightingConfig`.

    Args:
        percentile: p of the loss level ℓ_pt, in [0, 1].
        decay: of the moving average of ℓ_pt.
        burn_in: share of training in which samples are dropped at random only.
        burn_in_drop: share of samples that burn-in drops.
        drop: share of samples dropped at random after burn-in.
        half_history: keep the losses that a mentor with T > 1 looks back on as float16.
        smoothing: share of a sample's average loss that is kept at each look.
        sharpness: how strongly weights are pushed to 0 or 1; 0 leaves v as the mentor gives it.
        decided_by: share of training by which `sharpness` is in full effect.
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
        """These settings as the engine takes them."""
        return WeightingConfig(
            self.percentile, self.decay, self.burn_in, self.burn_in_drop, self.drop,
            self.smoothing, self.sharpness, self.decided_by,
        )  # fmt: skip
