"""MentorNet with a mentor that is there before the run: any, or the predefined one (PD)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.criterion import Spade
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor, load_mentor
from mentornet.methods.method import Supervision, Task
from mentornet.methods.weighted import Paced, SpadeMethod

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
    """The predefined curriculum of the paper, Eq. 5 around the loss percentile, as it ships."""

    name: ClassVar[str] = "mentornet-pd"
    title: ClassVar[str] = "MentorNet PD"

    def start(self, task: Task) -> Supervision:
        return supervise(self, load_mentor("pd"), task, reads_label=False)


def supervise(method: SpadeMethod, mentor: Mentor, task: Task, *, reads_label: bool) -> Paced:
    """SPADE with that mentor and the method's settings."""
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
    return Paced(spade.to(task.device), reads_label=reads_label)
