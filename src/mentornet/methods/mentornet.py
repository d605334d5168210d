"""MentorNet with a mentor that is there before the run: any, or the predefined one (PD)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.curricula.pd import MentorNetPD as PredefinedCurriculum
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor, load_mentor
from mentornet.methods.method import Supervision, Task
from mentornet.methods.weighted import Paced, SpadeMethod
from mentornet.weighting import Spade

__all__ = ["MentorNet", "MentorNetPD", "supervise"]


@dataclass(frozen=True)
class MentorNet(SpadeMethod):
    """v = g_m(φ; Θ) of a mentor that was taught before (Eq. 12).

    Args:
        mentor: the name of one that ships, or a folder.
        reads_label: whether it sees the given label; off, the label input is 0, as when the
            paper takes a mentor from CIFAR-10 to CIFAR-100.
    """

    name: ClassVar[str] = "mentornet"
    title: ClassVar[str] = "MentorNet"
    mentor: str = "pd"
    reads_label: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        load_mentor(self.mentor)

    def start(self, task: Task) -> Supervision:
        return supervise(self, load_mentor(self.mentor), task, reads_label=self.reads_label)


@dataclass(frozen=True)
class MentorNetPD(SpadeMethod):
    """The predefined curriculum of the paper, Eq. 5 around the loss percentile, as it ships.

    With other λ than it was taught, the closed form (Eq. 7) stands in for the mentor.

    Args:
        lambda1: λ₁ ≥ 0, how far above ℓ_pt a sample still counts in full.
        lambda2: λ₂ ≥ 0, how far beyond that the weight takes to reach 0.
    """

    name: ClassVar[str] = "mentornet-pd"
    title: ClassVar[str] = "MentorNet PD"
    lambda1: float = PredefinedCurriculum.lambda1
    lambda2: float = PredefinedCurriculum.lambda2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._curriculum()

    def _curriculum(self) -> PredefinedCurriculum:
        return PredefinedCurriculum(self.lambda1, self.lambda2)

    def start(self, task: Task) -> Supervision:
        curriculum = self._curriculum()
        if curriculum == PredefinedCurriculum():
            return supervise(self, load_mentor("pd"), task, reads_label=False)
        spade = Spade(
            curriculum, total_steps=task.total_steps, config=self.pace(), count=task.count,
            seed=task.seed,
        )  # fmt: skip
        return Paced(spade.to(task.device))


def supervise(
    method: SpadeMethod, mentor: Mentor, task: Task, *, reads_label: bool, unit: float = 1.0
) -> Paced:
    """SPADE with that mentor, which sees losses in that unit, and the method's settings."""
    known = mentor.config.num_classes
    if reads_label and mentor.config.use_label and known < task.classes:
        raise MentorNetError(
            f"this mentor knows {known} labels and the data has {task.classes} classes; "
            "with reads_label=false it sees none"
        )
    spade = Spade(
        mentor, total_steps=task.total_steps, config=method.pace(),
        count=task.count, half_history=method.half_history, seed=task.seed,
    )  # fmt: skip
    return Paced(spade.to(task.device), reads_label=reads_label, unit=unit)
