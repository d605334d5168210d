"""SPADE with a known G: projected gradient steps on stored weights (Algorithm 1, step 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.curricula import make_curriculum
from mentornet.errors import MentorNetError
from mentornet.methods.mentornet import make_engine
from mentornet.methods.method import Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted, WeightingMethod

__all__ = ["ExplicitSpade"]


@dataclass(frozen=True)
class ExplicitSpade(WeightingMethod):
    """The weights of all samples are stored, and take gradient steps together with the student.

    Args:
        curriculum: the curriculum that defines G: pd (Eq. 5 around ℓ_pt), linear or self-paced.
        step: the step size on v, as a multiple > 0 of the student's learning rate.
    """

    name: ClassVar[str] = "spade"
    title: ClassVar[str] = "SPADE, explicit G"
    summary: ClassVar[str] = "a gradient step on stored weights, with an explicit G"
    curriculum: str = "pd"
    step: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not make_curriculum(self.curriculum).has_penalty:
            raise MentorNetError(f"{self.curriculum} has no known G; take pd, linear or self-paced")
        if not 0 < self.step < float("inf"):
            raise MentorNetError(f"step must be > 0, got {self.step:g}")

    def start(self, task: Task) -> Supervision:
        engine = make_engine(self, make_curriculum(self.curriculum), task, explicit=True)
        return Weighted(engine, task, pace=self.step)
