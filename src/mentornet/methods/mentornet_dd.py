"""MentorNet DD: the curriculum is learned from verified samples (§3.1, App. E)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mentornet.errors import MentorNetError
from mentornet.mentors import load_mentor
from mentornet.methods.mentornet import make_engine
from mentornet.methods.method import Needs, Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted, WeightingMethod
from mentornet.weighting import DATA_DRIVEN, LearningConfig, Weighting

__all__ = ["AS_IN_THE_PAPER", "MentorNetDD"]


@dataclass(frozen=True)
class MentorNetDD(WeightingMethod):
    """Learn the mentor in the run, from the student's own losses on samples with a verdict.

    After the burn-in the predefined mentor serves until the first update. With `mentor` nothing is
    learned: a mentor from elsewhere is transferred, with its label input fixed to 0.

    The defaults are what did best in our benchmark. `AS_IN_THE_PAPER` has the paper's: it burns in
    twice as long and drops half the samples meanwhile, learns twice, from single losses, takes the
    mentor's probability for the weight, and weights verified samples like all others.

    Args:
        teaches_verified: whether the student is taught what is known of verified samples: a correct
            label has weight 1 and a wrong one 0, and where the true label is known, the student
            learns that. In the paper they are weighted like all others.
        updates: when the mentor is (re-)learned, as shares of training; see `LearningConfig`.
        history: T, how many losses of a sample the mentor reads.
        reads_label: whether the mentor reads the given label; worth it from some hundred verified
            samples a class.
        steps: of Adam, at each update.
        learning_rate: of Adam, the highest.
        mentor: a shipped name or a folder to transfer; empty to learn in the run.
        mentor_classes: K₀, the number of classes that a transferred mentor was learned on. It then
            reads ℓ log K₀ / log K: the loss of a student that knows nothing is log K, and should
            look to the mentor as it did there. 0 for ℓ as it is, as in the paper.
    """

    name: ClassVar[str] = "mentornet-dd"
    title: ClassVar[str] = "MentorNet DD"
    summary: ClassVar[str] = "learns its mentor from verified samples during the run"
    burn_in: float = DATA_DRIVEN.burn_in
    burn_in_drop: float = DATA_DRIVEN.burn_in_drop
    smoothing: float = DATA_DRIVEN.smoothing
    sharpness: float = DATA_DRIVEN.sharpness
    decided_by: float = DATA_DRIVEN.decided_by
    teaches_verified: bool = True
    updates: tuple[float, ...] = LearningConfig.updates
    history: int = LearningConfig.history
    reads_label: bool = LearningConfig.reads_label
    steps: int = LearningConfig.steps
    learning_rate: float = LearningConfig.learning_rate
    mentor: str = ""
    mentor_classes: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mentor:
            load_mentor(self.mentor)
        elif self.mentor_classes:
            raise MentorNetError("mentor_classes is about a transferred mentor: give mentor too")
        if self.mentor_classes < 0 or self.mentor_classes == 1:
            raise MentorNetError(f"mentor_classes must be ≥ 2, or 0, got {self.mentor_classes}")
        self.learning()

    def learning(self) -> LearningConfig:
        """How mentors are learned."""
        return LearningConfig(
            self.updates, self.history, self.reads_label, self.steps, self.learning_rate
        )

    @property
    def needs(self) -> Needs:
        return Needs(verdicts="no" if self.mentor else "required")

    def start(self, task: Task) -> Supervision:
        return Weighted(self.engine(task), task)

    def engine(self, task: Task) -> Weighting:
        """The engine with a transferred mentor, or with one that is learned in the run."""
        if self.mentor:
            unit = math.log(task.classes, self.mentor_classes) if self.mentor_classes else 1.0
            return make_engine(self, load_mentor(self.mentor), task, reads_label=False, unit=unit)
        if task.verdicts is None:
            raise MentorNetError(f"{self.name} learns from verified samples, and there are none")
        engine = make_engine(self, load_mentor("pd"), task, history=self.history).to(task.device)
        engine.learn_from(
            task.verdicts, task.classes, self.learning(), teaches=self.teaches_verified
        )
        return engine


AS_IN_THE_PAPER = (
    "burn_in=0.2", "burn_in_drop=0.5", "smoothing=0", "sharpness=0", "decided_by=1",
    "teaches_verified=false", "updates=0.21,0.75",
)  # fmt: skip
"""Settings of DD as §3.1 and App. E have them, in words; with as many verified samples as there,
`reads_label=true` belongs to them."""
