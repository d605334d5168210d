"""MentorNet DD: the curriculum is learned from verified samples (§3.1, App. E)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mentornet.errors import MentorNetError
from mentornet.mentors import load_mentor, load_rule
from mentornet.methods.mentornet import make_engine
from mentornet.methods.method import Needs, Task
from mentornet.methods.supervision import Supervision
from mentornet.methods.weighted import Weighted, WeightingMethod
from mentornet.weighting import DATA_DRIVEN, LearningConfig, Weighting

__all__ = ["MentorNetDD"]


@dataclass(frozen=True)
class MentorNetDD(WeightingMethod):
    """Learn the mentor in the run, from the student's losses on verified samples.

    From burn-in to the first update the predefined mentor is used. With `mentor`, nothing is
    learned: that mentor is transferred, with its label input fixed to 0.

    The defaults did best in our benchmark. The preset `paper` has the paper's settings: burn-in is
    twice as long and drops half of the samples, the mentor is learned twice, from single losses,
    its probability is the weight, and verified samples are weighted like all others.

    Args:
        teaches_verified: whether the student is taught the verdicts: a correct label has weight 1,
            a wrong one 0, and where the true label is known, it replaces the given one. In the
            paper verified samples are weighted like all others.
        updates: when the mentor is learned, as shares of training; see `LearningConfig`. By default
            every twentieth, and never if a mentor is transferred.
        history: T ≥ 1, how many losses of a sample the mentor reads.
        reads_label: whether the mentor reads the given label; useful with some hundred verified
            samples per class or more. Classes with fewer than 10 are read as one class.
        steps: number of steps of Adam at each update.
        learning_rate: the highest learning rate of Adam.
        fallback: whether the predefined mentor is used where it does better on held-out samples.
        held_out: share of the verified samples that only measures how good a mentor is.
        mentor: what is transferred: a shipped mentor or series, the folder of one, or the folder of
            a run, whose mentors each serve from the point on at which they were learned there
            (see `MentorSeries`). Empty to learn mentors in the run.
        mentor_classes: K₀, the number of classes that a transferred mentor was learned on. The
            mentor then reads ℓ log K₀ / log K, so that the loss of an untrained student, log K, is
            what it was there. With 0, as in the paper, it reads ℓ.
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
    own_updates: ClassVar[tuple[float, ...]] = LearningConfig.updates
    updates: tuple[float, ...] = ()
    history: int = LearningConfig.history
    reads_label: bool = LearningConfig.reads_label
    steps: int = LearningConfig.steps
    learning_rate: float = LearningConfig.learning_rate
    fallback: bool = LearningConfig.fallback
    held_out: float = LearningConfig.held_out
    mentor: str = ""
    mentor_classes: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mentor:
            load_rule(self.mentor)
            if self.updates:
                raise MentorNetError(
                    f"updates is {self.updates}, but a transferred mentor is not learned again: "
                    "leave out updates; or leave out mentor, and give verified samples"
                )
        elif self.mentor_classes:
            raise MentorNetError("mentor_classes is only for a transferred mentor: set mentor too")
        elif not self.updates:
            object.__setattr__(self, "updates", self.own_updates)  # so that settings show them
        if self.mentor_classes < 0 or self.mentor_classes == 1:
            raise MentorNetError(f"mentor_classes must be ≥ 2, or 0, got {self.mentor_classes}")
        if not self.mentor:
            self.learning()

    def learning(self) -> LearningConfig:
        """Return the settings of the learning of mentors."""
        return LearningConfig(
            self.updates, self.history, self.reads_label, self.steps, self.learning_rate,
            self.fallback, self.held_out,
        )  # fmt: skip

    @property
    def needs(self) -> Needs:
        return Needs(verdicts="no" if self.mentor else "required")

    def start(self, task: Task) -> Supervision:
        return Weighted(self.engine(task), task)

    def engine(self, task: Task) -> Weighting:
        """Return the engine with a transferred mentor, or with one that is learned in the run."""
        if self.mentor:
            unit = math.log(task.classes, self.mentor_classes) if self.mentor_classes else 1.0
            return make_engine(self, load_rule(self.mentor), task, reads_label=False, unit=unit)
        if task.verdicts is None:
            raise MentorNetError(f"{self.name} learns from verified samples, but there are none")
        engine = make_engine(self, load_mentor("pd"), task, history=self.history).to(task.device)
        engine.learn_from(
            task.verdicts, task.classes, self.learning(), teaches=self.teaches_verified
        )
        return engine
