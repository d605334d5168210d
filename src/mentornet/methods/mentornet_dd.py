"""MentorNet DD: the curriculum is learned from verified samples (§3.1, App. E)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.criterion import DataDriven, Spade
from mentornet.curricula import Uniform
from mentornet.errors import MentorNetError
from mentornet.features import EPOCHS
from mentornet.mentors import FitConfig, Mentor, load_mentor
from mentornet.methods.mentornet import supervise
from mentornet.methods.method import Supervision, Task
from mentornet.methods.weighted import Paced, SpadeMethod

__all__ = ["InRun", "MentorNetDD"]


@dataclass(frozen=True)
class MentorNetDD(SpadeMethod):
    """Learn the mentor in the run, from the student's own losses on verified samples.

    After the burn-in the predefined mentor serves until the first update. With `mentor` there
    is nothing to learn: a mentor from elsewhere is transferred, its label input fixed to 0.

    Args:
        updates: when the mentor is (re-)learned, as shares of training; the paper's are 0.21
            and 0.75.
        history: T, how many losses of a sample the mentor reads.
        reads_label: whether the mentor sees the given label; worth it from some hundred
            verified samples a class.
        steps: of Adam, each time it learns.
        learning_rate: of Adam, the highest.
        mentor: a shipped name or a folder to transfer; empty to learn in the run.
    """

    name: ClassVar[str] = "mentornet-dd"
    title: ClassVar[str] = "MentorNet DD"
    updates: tuple[float, ...] = (0.21, 0.75)
    history: int = 1
    reads_label: bool = False
    steps: int = 600
    learning_rate: float = 0.03
    mentor: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mentor:
            load_mentor(self.mentor)
        if not self.updates:
            raise MentorNetError("updates must hold at least one share of training")
        if list(self.updates) != sorted(set(self.updates)):
            raise MentorNetError(f"updates must rise, got {self.updates}")
        for share in self.updates:
            if not 0 < share < 1:
                raise MentorNetError(f"updates must be shares of training in (0, 1), got {share:g}")
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
            return supervise(self, load_mentor(self.mentor), task, reads_label=False)
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
        return InRun(spade.to(task.device), lessons, self.updates)


class InRun(Paced):
    """SPADE whose mentor is learned at set points of the run ("update curriculum", step 6).

    Args:
        spade: with the predefined mentor, which serves until the first update.
        lessons: what the mentors are learned from.
        updates: when, as rising shares of training.
    """

    def __init__(self, spade: Spade, lessons: DataDriven, updates: tuple[float, ...]) -> None:
        super().__init__(spade)
        self.lessons = lessons
        self.due = [math.ceil(share * spade.total_steps) for share in updates]
        self.steps = self.done = 0
        self.mentors: dict[str, Mentor] = {}
        self._notes: list[str] = []

    def weights(
        self, losses: Tensor, given_label: Tensor, index: Tensor, learning_rate: float
    ) -> Tensor | None:
        due = self.done < len(self.due) and self.steps >= self.due[self.done]
        if due and self.lessons.ready:  # else as soon as it is
            self._learn()
        self.steps += 1
        features = self.spade.features(losses.detach(), given_label, index)
        self.lessons.observe(features, index)
        return self.spade.weigh_features(features, index, learning_rate=learning_rate)

    def _learn(self) -> None:
        self.done += 1
        later = self.due[self.done] if self.done < len(self.due) else self.spade.total_steps
        until = min(EPOCHS - 1, later * EPOCHS // self.spade.total_steps)
        rule, outcome = self.lessons.learn(self.spade.epoch, until)
        self.spade.use(rule)
        self._notes.append(f"{outcome}")
        if isinstance(rule, Mentor) and rule is not self.lessons.predefined:
            self.mentors[f"{self.done}-at-{self.spade.epoch:02d}"] = rule

    def learned(self) -> Mapping[str, Mentor]:
        return self.mentors

    def notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def state_dict(self) -> dict[str, Any]:
        now = next((name for name, it in self.mentors.items() if it is self.spade.rule), None)
        return {
            **super().state_dict(),
            "lessons": self.lessons.state_dict(),
            "steps": self.steps,
            "done": self.done,
            "mentors": {name: mentor.state_dict() for name, mentor in self.mentors.items()},
            "uniform": isinstance(self.spade.rule, Uniform),
            "now": now,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.lessons.load_state_dict(state["lessons"])
        self.steps, self.done = state["steps"], state["done"]
        self.mentors = {}
        for name, weights in state["mentors"].items():
            mentor = self.lessons.fresh_mentor().eval().requires_grad_(False)
            mentor.load_state_dict(weights)
            self.mentors[name] = mentor.to(self.spade.step.device)
        if state["uniform"]:
            self.spade.use(Uniform())
        else:
            self.spade.use(self.mentors.get(state["now"], self.lessons.predefined))
