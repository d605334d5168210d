"""The self-paced baseline of the paper's tables (Kumar et al. 2010; App. E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from mentornet.curricula import Curriculum, Direction
from mentornet.curricula.curriculum import check_not_negative
from mentornet.features import PERCENT, MentorFeatures
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted
from mentornet.weighting import Weighting, WeightingConfig

__all__ = ["RisingThreshold", "SelfPacedMethod"]


@dataclass(frozen=True)
class RisingThreshold(Curriculum):
    """v = 1(ℓ ≤ λ_t), λ_t = ℓ_pt (1 + r t/100): a threshold that rises while training goes on.

    Args:
        growth: r, by how much the threshold has risen at the end; t is the progress in percent.
    """

    name: ClassVar[str] = "rising-threshold"
    direction: ClassVar[Direction | None] = "decreasing"
    growth: float = 0.2

    def __post_init__(self) -> None:
        check_not_negative(growth=self.growth)

    def weight(self, features: MentorFeatures) -> Tensor:
        limit = features.loss_level * (1 + self.growth * features.progress / PERCENT)
        return (features.current_loss <= limit).to(features.loss.dtype)


@dataclass(frozen=True)
class SelfPacedMethod(Method):
    """Learn the samples whose loss is below a percentile of the average loss, raised by 20 %.

    Args:
        percentile: where the threshold starts; the paper tries 0.5, 0.6 and 0.75.
        decay: of the moving average of the percentile.
        growth: by how much the threshold rises over the training.
        burn_in: share of training in which all samples are learned. Without it the losses of a
            student that knows nothing decide, and those depend on the class alone: a class that
            is left out then is never learned, and stays out. The paper says of none.
    """

    name: ClassVar[str] = "self-paced"
    title: ClassVar[str] = "Self-paced"
    summary: ClassVar[str] = "learns samples below a rising loss threshold (Kumar et al. 2010)"
    percentile: float = 0.75
    decay: float = WeightingConfig.decay
    growth: float = 0.2
    burn_in: float = 0.1

    def __post_init__(self) -> None:
        RisingThreshold(self.growth)
        self._weighting()

    def _weighting(self) -> WeightingConfig:
        return WeightingConfig(self.percentile, self.decay, burn_in=self.burn_in, burn_in_drop=0.0)

    def start(self, task: Task) -> Supervision:
        rule = RisingThreshold(self.growth)
        engine = Weighting(
            rule, total_steps=task.total_steps, config=self._weighting(), seed=task.seed
        )
        return Weighted(engine, task)
