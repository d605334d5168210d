"""Algorithm 1's "update curriculum" (step 6): a mentor learned again at set points of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.curricula import Curriculum, Uniform
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.features import EPOCHS, MentorFeatures
from mentornet.mentors import Mentor
from mentornet.weighting.data_driven import DataDriven
from mentornet.weighting.spade import Spade

__all__ = ["LearnedMentor", "Relearning", "check_updates"]


@dataclass(frozen=True)
class LearnedMentor:
    """A mentor that was learned in a run, and when: as progress in percent."""

    mentor: Mentor
    progress: int


class Relearning(nn.Module):
    """Watches the losses of verified samples, and gives SPADE a new mentor when it is time.

    What it knows is in `state_dict`, as one entry: its mentors, and what the next is learned from.

    Args:
        spade: with the predefined rule, which serves until the first update. It is not a part of
            this module.
        lessons: what the mentors are learned from.
        updates: when, as rising shares of training.
    """

    def __init__(self, spade: Spade, lessons: DataDriven, updates: tuple[float, ...]) -> None:
        super().__init__()
        check_updates(updates)
        self._spade = (spade,)
        self.lessons = lessons
        self.due = [math.ceil(share * spade.total_steps) for share in updates]
        self.steps = int(spade.step)
        self.done = max(0, sum(self.steps > due for due in self.due) - 1)  # the last is still due
        self.mentors: dict[str, LearnedMentor] = {}
        self.notes: list[str] = []

    @property
    def spade(self) -> Spade:
        """Whose rule it changes."""
        return self._spade[0]

    def learn_if_due(self, noise_rate: float | None = None) -> bool:
        """Learn a mentor if one is due and enough was seen; say whether that was so."""
        due = self.done < len(self.due) and self.steps >= self.due[self.done]
        if not due or not self.lessons.ready:
            return False
        self.done += 1
        later = self.due[self.done] if self.done < len(self.due) else self.spade.total_steps
        until = min(EPOCHS - 1, later * EPOCHS // self.spade.total_steps)
        with torch.inference_mode(False):  # whatever the loop around it does
            rule, outcome = self.lessons.learn(self.spade.epoch, until, noise_rate)
        rule = self._agreed(rule)
        self.spade.use(rule)
        self.notes.append(f"{outcome}")
        if isinstance(rule, Mentor) and rule is not self.lessons.predefined:
            now = self.spade.epoch
            self.mentors[f"{self.done}-at-{now:02d}"] = LearnedMentor(rule, now)
        return True

    def _agreed(self, rule: Mentor | Curriculum) -> Mentor | Curriculum:
        """What rank 0 has learned, on every rank: another machine may round otherwise."""
        processes = Processes.here()
        if processes.alone:
            return rule
        predefined = self.lessons.predefined
        kind = 0 if rule is predefined else 1 if isinstance(rule, Uniform) else 2
        told = torch.tensor([kind], device=self.spade.step.device)
        processes.follow(told)
        if told.item() < 2:
            return Uniform() if told.item() else predefined
        mentor = rule if kind == 2 else self.lessons.fresh_mentor().to(told.device)
        assert isinstance(mentor, Mentor)
        mentor.eval().requires_grad_(False)
        processes.follow(*mentor.state_dict().values())
        return mentor

    def observe(self, features: MentorFeatures, index: Tensor, wrong: Tensor | None = None) -> None:
        """Remember one step; see `DataDriven.observe`."""
        self.lessons.observe(features, index, wrong)
        if not torch.compiler.is_compiling():
            self.steps += 1

    def _apply(self, fn: Any, recurse: bool = True) -> Relearning:
        """Where SPADE has gone, the lessons and the mentors go."""
        super()._apply(fn, recurse)
        self.lessons.to(fn(torch.empty(0)).device)
        for learned in self.mentors.values():
            learned.mentor._apply(fn, recurse)
        return self

    def get_extra_state(self) -> dict[str, Any]:
        """All that later steps depend on."""
        now = next(
            (name for name, it in self.mentors.items() if it.mentor is self.spade.rule), None
        )
        return {
            "lessons": self.lessons.state_dict(),
            "steps": self.steps,
            "done": self.done,
            "mentors": {name: it.mentor.state_dict() for name, it in self.mentors.items()},
            "progress": {name: it.progress for name, it in self.mentors.items()},
            "uniform": isinstance(self.spade.rule, Uniform),
            "now": now,
            "notes": list(self.notes),
        }

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.lessons.load_state_dict(state["lessons"])
        self.steps, self.done, self.notes = state["steps"], state["done"], list(state["notes"])
        self.mentors = {}
        for name, weights in state["mentors"].items():
            mentor = self.lessons.fresh_mentor().eval().requires_grad_(False)
            mentor.load_state_dict(weights)
            mentor.to(self.spade.step.device)
            self.mentors[name] = LearnedMentor(mentor, state["progress"][name])
        if state["uniform"]:
            self.spade.use(Uniform())
        else:
            learned = self.mentors.get(state["now"])
            self.spade.use(self.lessons.predefined if learned is None else learned.mentor)


def check_updates(updates: tuple[float, ...]) -> None:
    """Raise unless these are rising shares of training."""
    if not updates:
        raise MentorNetError("updates must hold at least one share of training")
    if list(updates) != sorted(set(updates)):
        raise MentorNetError(f"updates must rise, got {updates}")
    for share in updates:
        if not 0 < share < 1:
            raise MentorNetError(f"updates must be shares of training in (0, 1), got {share:g}")
