"""MentorNet with a mentor from before the run: any mentor, or the predefined one (PD)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mentornet.curricula.pd import MentorNetPD as PredefinedCurriculum
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor, MentorSeries, load_mentor, load_rule
from mentornet.methods.method import Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted, WeightingMethod
from mentornet.weighting import Rule, Weighting

__all__ = ["MentorNet", "MentorNetPD", "make_engine"]


@dataclass(frozen=True)
class MentorNet(WeightingMethod):
    """v = g_m(φ; Θ) of a mentor that was fitted before the run (Eq. 12).

    Args:
        mentor: the name of a shipped mentor or series, the folder of one, or the folder of a run
            that learned some.
        reads_label: whether the mentor reads the given label. If not, its label input is 0, as in
            the paper's transfer from CIFAR-10 to CIFAR-100.
    """

    name: ClassVar[str] = "mentornet"
    title: ClassVar[str] = "MentorNet"
    summary: ClassVar[str] = "weights from a mentor that was taught before"
    mentor: str = "pd"
    reads_label: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        load_rule(self.mentor)

    def start(self, task: Task) -> Supervision:
        rule = load_rule(self.mentor)
        return Weighted(make_engine(self, rule, task, reads_label=self.reads_label), task)


@dataclass(frozen=True)
class MentorNetPD(WeightingMethod):
    """The paper's predefined curriculum, Eq. 5 around the loss level, by the shipped mentor.

    For other λ than those of the shipped mentor, the closed form (Eq. 7) is used.

    Args:
        lambda1: λ₁ ≥ 0, how far above ℓ_pt a loss may be for a weight of 1.
        lambda2: λ₂ ≥ 0, the range of losses over which the weight falls from 1 to 0.
    """

    name: ClassVar[str] = "mentornet-pd"
    title: ClassVar[str] = "MentorNet PD"
    summary: ClassVar[str] = "the paper's predefined curriculum around a loss percentile"
    lambda1: float = PredefinedCurriculum.lambda1
    lambda2: float = PredefinedCurriculum.lambda2

    def __post_init__(self) -> None:
        super().__post_init__()
        PredefinedCurriculum(self.lambda1, self.lambda2)

    def start(self, task: Task) -> Supervision:
        curriculum = PredefinedCurriculum(self.lambda1, self.lambda2)
        taught = curriculum == PredefinedCurriculum()
        rule = load_mentor("pd") if taught else curriculum
        return Weighted(make_engine(self, rule, task), task)


def make_engine(method: WeightingMethod, rule: Rule, task: Task, **options: Any) -> Weighting:
    """Return an engine with this rule, the method's settings and further options of `Weighting`."""
    if isinstance(rule, Mentor | MentorSeries) and options.get("reads_label", True):
        known = rule.config.num_classes
        if rule.config.use_label and known < task.classes:
            raise MentorNetError(
                f"this mentor knows {known} labels, but the data has {task.classes} classes; "
                "set reads_label=false, so that it reads no label"
            )
    return Weighting(
        rule, total_steps=task.total_steps, config=method.weighting(), count=task.count,
        half_history=method.half_history, seed=task.seed, **options,
    )  # fmt: skip
