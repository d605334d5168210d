"""MentorNet that estimates the noise rate by itself, as `MentorLoss` does by default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.curricula import MentorNetPD
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted
from mentornet.weighting import Weighting, WeightingConfig

__all__ = ["MentorNetAuto"]


@dataclass(frozen=True)
class MentorNetAuto(Method):
    """The predefined curriculum around the percentile 1 − 1.2 ε; ε is estimated during training.

    Nothing need be known of the labels. See `mentornet.MentorLoss`.

    Args:
        burn_in: share of training after which the curriculum is used at the latest.
        by_class: whether each sample is compared only with its own class, for rare classes.
    """

    name: ClassVar[str] = "mentornet-auto"
    title: ClassVar[str] = "MentorNet auto"
    summary: ClassVar[str] = "finds the noise rate by itself, and the percentile from it"
    burn_in: float = WeightingConfig.burn_in
    by_class: bool = False

    def __post_init__(self) -> None:
        WeightingConfig(burn_in=self.burn_in)

    def start(self, task: Task) -> Supervision:
        engine = Weighting(
            MentorNetPD(), total_steps=task.total_steps, auto=True, count=task.count,
            config=WeightingConfig(burn_in=self.burn_in),
            by_class=task.classes if self.by_class else None, seed=task.seed,
        )  # fmt: skip
        return Weighted(engine, task)
