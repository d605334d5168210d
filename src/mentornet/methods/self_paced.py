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


@dataclass(frozen=True)
class SelfPacedMethod(Method):
    """Learn only samples whose loss is below a threshold, the loss level raised by up to 20 %.

    Args:
        percentile: p of the loss level ℓ_pt, in [0, 1]; the paper tries 0.5, 0.6 and 0.75.
        decay: decay of the moving average ℓ_pt, in [0, 1).
        growth: the relative rise of the threshold until the end of training, ≥ 0.
        burn_in: share of training in which all samples are learned; the paper does not mention one.
            Without it, the losses of an untrained student decide, which depend only on the class. A
            class that is left out at first is then never learned.
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
