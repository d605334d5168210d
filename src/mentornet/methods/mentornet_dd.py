"""MentorNet DD: the curriculum is learned from verified samples (§3.1, App. E)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.mentors import FitConfig, load_mentor
from mentornet.methods.mentornet import supervise
from mentornet.methods.method import Supervision, Task
from mentornet.methods.weighted import Paced, SpadeMethod
from mentornet.verdicts.lookup import VerdictLookup
from mentornet.weighting import DataDriven, Relearning, Spade, check_updates
from mentornet.weighting.relearning import LearnedMentor

__all__ = ["AS_IN_THE_PAPER", "InRun", "MentorNetDD"]


@dataclass(frozen=True)
class MentorNetDD(SpadeMethod):
    """Learn the mentor in the run, from the student's own losses on verified samples.

    After the burn-in the predefined mentor serves until the first update. With `mentor` there
    is nothing to learn: a mentor from elsewhere is transferred, its label input fixed to 0.

    The defaults are what did best in our benchmark. `AS_IN_THE_PAPER` has the paper's: it burns in
    twice as long and drops half the samples meanwhile, learns twice, from single losses, takes the
    mentor's probability for the weight, and weighs verified samples like all others.

    Args:
        teaches_verified: whether what is known of verified samples counts for the student too: a
            right label has weight 1 and a wrong one 0, and where it was said what the label should
            be, the student is taught that. In the paper they are weighed like all others.
        updates: when the mentor is (re-)learned, as shares of training; the paper's are 0.21
            and 0.75, ours every twentieth: a mentor grows stale as the student learns.
        history: T, how many losses of a sample the mentor reads.
        reads_label: whether the mentor sees the given label; worth it from some hundred
            verified samples a class.
        steps: of Adam, each time it learns.
        learning_rate: of Adam, the highest.
        mentor: a shipped name or a folder to transfer; empty to learn in the run.
        mentor_classes: K₀, on how many classes a transferred mentor was learned. It then sees
            ℓ log K₀ / log K: a student that knows nothing has a loss of log K, and should look to
            it as it did there. 0 for ℓ as it is, as in the paper.
    """

    name: ClassVar[str] = "mentornet-dd"
    title: ClassVar[str] = "MentorNet DD"
    burn_in: float = 0.1
    burn_in_drop: float = 0.0
    smoothing: float = 0.8
    sharpness: float = 6.0
    decided_by: float = 0.3
    teaches_verified: bool = True
    updates: tuple[float, ...] = tuple(percent / 100 for percent in range(12, 97, 5))
    history: int = 1
    reads_label: bool = False
    steps: int = 600
    learning_rate: float = 0.03
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
        check_updates(self.updates)
        if self.history < 1:
            raise MentorNetError(f"history must be ≥ 1, got {self.history}")
        self._fit()

    @property
    def needs_verified(self) -> bool:
        return not self.mentor

    def _fit(self) -> FitConfig:
        return FitConfig(self.steps, learning_rate=self.learning_rate, evaluations=20)

    def start(self, task: Task) -> Supervision:
        if self.mentor:
            unit = math.log(task.classes, self.mentor_classes) if self.mentor_classes else 1.0
            return supervise(self, load_mentor(self.mentor), task, reads_label=False, unit=unit)
        if task.verified is None:
            raise MentorNetError("mentornet-dd learns from verified samples, and there are none")
        predefined = load_mentor("pd").to(task.device)
        spade = Spade(
            predefined, total_steps=task.total_steps, config=self.pace(), count=task.count,
            history=self.history, half_history=self.half_history,
            seed=task.seed,
        )  # fmt: skip
        lessons = DataDriven(
            task.verified, count=task.count, predefined=predefined, classes=task.classes,
            history=self.history, reads_label=self.reads_label, fit=self._fit(), seed=task.seed,
        )  # fmt: skip
        known = VerdictLookup(task.verified) if self.teaches_verified else None
        return InRun(Relearning(spade.to(task.device), lessons, self.updates), known)


AS_IN_THE_PAPER = (
    "burn_in=0.2", "burn_in_drop=0.5", "smoothing=0", "sharpness=0", "decided_by=1",
    "teaches_verified=false", "updates=0.21,0.75",
)  # fmt: skip
"""Settings of DD as §3.1 and App. E have them, in words; with as many verified samples as there,
`reads_label=true` belongs to them."""


class InRun(Paced):
    """SPADE whose mentor is learned at set points of the run.

    Args:
        learning: with the predefined mentor, which serves until the first update.
        known: what need not be guessed of verified samples; None to weigh them like others.
    """

    def __init__(self, learning: Relearning, known: VerdictLookup | None = None) -> None:
        super().__init__(learning.spade)
        self.learning, self.known = learning, known

    def weights(self, losses: Tensor, batch: Batch, learning_rate: float) -> Tensor | None:
        self.learning.learn_if_due()
        features = self.spade.features(losses.detach(), batch.given_label, batch.index)
        self.learning.observe(features, batch.index)
        found = self.spade.weigh_features(features, batch.index, learning_rate=learning_rate)
        return found if self.known is None else self.known.weigh(found, batch.index)

    def learned(self) -> Mapping[str, LearnedMentor]:
        return self.learning.mentors

    def notes(self) -> list[str]:
        notes, self.learning.notes = self.learning.notes, []
        return notes

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "learning": self.learning.get_extra_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.learning.set_extra_state(state["learning"])
