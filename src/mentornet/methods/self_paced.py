"""The self-paced baseline of the paper's tables (Kumar et al. 2010; App. E)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from mentornet.curricula import Curriculum, Direction
from mentornet.curricula.curriculum import check_not_negative
from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted
from mentornet.weighting import Evidence, LossLevel, Weighting, WeightingConfig

__all__ = ["RisingThreshold", "SelfPacedMethod"]


@dataclass(frozen=True)
class RisingThreshold(Curriculum):
    """v = 1(ℓ ≤ λ_t), λ_t = ℓ_pt (1 + r t/100): a threshold that rises with the progress t.

    Args:
        growth: r ≥ 0, the relative rise of the threshold until the end of training.
    """

    name: ClassVar[str] = "rising-threshold"
    direction: ClassVar[Direction | None] = "decreasing"
    growth: float = 0.2

    def __post_init__(self) -> None:
        check_not_negative(growth=self.growth)

    def weight(self, features: MentorFeatures) -> Tensor:
        limit = features.loss_level * (1 + self.growth * features.progress / PERCENT)
        return (features.current_loss <= limit).to(features.loss.dtype)


class _FromAverage(Supervision):
    """v = 1(ℓ ≤ λ_t), λ_t = λ₀ (1 + r τ), λ₀ the p-th percentile of the average losses of samples.

    The average of each sample is taken over the epochs until burn-in ends, at least the first one,
    in which all samples are learned. τ in [0, 1) is the share of the steps after that.

    Args:
        task: the task of the run.
        percentile: p in [0, 1].
        growth: r ≥ 0.
        burn_in: share of training.
    """

    weighs = True

    def __init__(self, task: Task, percentile: float, growth: float, burn_in: float) -> None:
        self.level, self.growth = LossLevel(percentile, 0.0).to(task.device), growth
        self.total_steps, self.begins = task.total_steps, burn_in * task.total_steps
        self.sums = torch.zeros(task.count, device=task.device)
        self.counts = torch.zeros(task.count, device=task.device)
        self.steps, self.fixed_at = 0, -1

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        assert evidence.index is not None
        losses, finite = evidence.losses, evidence.losses.isfinite()
        if self.fixed_at < 0:
            self.sums[evidence.index] += torch.where(finite, losses, 0.0).to(self.sums.dtype)
            self.counts[evidence.index] += finite.to(self.counts.dtype)
            kept = finite
        else:
            share = (self.steps - self.fixed_at) / (self.total_steps - self.fixed_at)
            kept = losses <= self.level.value * (1 + self.growth * share)
        self.steps += 1
        return kept.to(losses.dtype)

    def end_epoch(self, epoch: int) -> None:
        if self.fixed_at < 0 and self.steps >= self.begins:
            self.level.update(self.sums / self.counts)  # NaN where a sample was never seen
            self.fixed_at = self.steps

    def metrics(self) -> Mapping[str, Tensor | float]:
        return {} if self.fixed_at < 0 else {"loss_level": self.level.value}

    def state_dict(self) -> dict[str, Any]:
        return {
            "level": self.level.state_dict(), "sums": self.sums.clone(),
            "counts": self.counts.clone(), "steps": self.steps, "fixed_at": self.fixed_at,
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.level.load_state_dict(state["level"])
        self.sums.copy_(state["sums"])
        self.counts.copy_(state["counts"])
        self.steps, self.fixed_at = state["steps"], state["fixed_at"]


@dataclass(frozen=True)
class SelfPacedMethod(Method):
    """Learn only samples whose loss is below a threshold that rises by up to 20 %.

    The paper raises λ "in training by 20 %", from the 50th, 60th or 75th percentile of the average
    sample loss. `threshold=rises` does that. By default the threshold follows the losses as they
    fall, and is raised relative to them.

    Args:
        percentile: p of the threshold, in [0, 1]; the paper tries 0.5, 0.6 and 0.75.
        decay: decay of the moving average ℓ_pt, in [0, 1), if the threshold follows the losses.
        growth: the relative rise of the threshold until the end of training, ≥ 0.
        burn_in: share of training in which all samples are learned; the paper does not mention one.
            Without it, the losses of an untrained student decide, which depend only on the class. A
            class that is left out at first is then never learned. If the threshold rises, all
            samples are learned in the first epoch in any case.
        threshold: `follows` for the loss level ℓ_pt of recent batches, raised (ours); `rises` for
            the percentile of the samples' average losses until burn-in ends, which then only rises,
            as in the paper.
    """

    name: ClassVar[str] = "self-paced"
    title: ClassVar[str] = "Self-paced"
    summary: ClassVar[str] = "learns samples below a rising loss threshold (Kumar et al. 2010)"
    percentile: float = 0.75
    decay: float = WeightingConfig.decay
    growth: float = 0.2
    burn_in: float = 0.1
    threshold: str = "follows"

    def __post_init__(self) -> None:
        RisingThreshold(self.growth)
        self._weighting()
        if self.threshold not in ("follows", "rises"):
            raise MentorNetError(f"threshold must be follows or rises, got {self.threshold!r}")

    def _weighting(self) -> WeightingConfig:
        return WeightingConfig(self.percentile, self.decay, burn_in=self.burn_in, burn_in_drop=0.0)

    def start(self, task: Task) -> Supervision:
        if self.threshold == "rises":
            return _FromAverage(task, self.percentile, self.growth, self.burn_in)
        rule = RisingThreshold(self.growth)
        engine = Weighting(
            rule, total_steps=task.total_steps, config=self._weighting(), seed=task.seed
        )
        return Weighted(engine, task)
