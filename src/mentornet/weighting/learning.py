"""Learn mentors from verdicts while the student trains ("update curriculum", §3.1, App. E)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.curricula import Uniform
from mentornet.distributed import Processes
from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors import Lesson, Mentor, fit_labels, make_mentor
from mentornet.verdicts import Verdicts
from mentornet.weighting.lessons import Lessons
from mentornet.weighting.rules import Rule
from mentornet.weighting.settings import LearningConfig

__all__ = ["LearnedMentor", "Learning", "Outcome"]

_ENOUGH = 10  # verified samples, of all classes for a mentor, and of a class for its label


@dataclass(frozen=True)
class Outcome:
    """The result of one update.

    Attributes:
        progress: progress of training at the update, in percent.
        samples: the number of verified samples that it used.
        error: the mean of (v − v*)² of the learned mentor on held-out samples; None if none are
            held out.
        error_before: the same of the predefined rule.
        used: which of the two is used from then on.
    """

    progress: int
    samples: int
    error: float | None
    error_before: float | None
    used: str

    def __str__(self) -> str:
        learned = f"at {self.progress} %: mentor learned from {self.samples} verified samples"
        if self.error is None or self.error_before is None:
            return f"{learned}: {self.used} is used"
        return (
            f"{learned}, held-out error {self.error:.3f}, predefined {self.error_before:.3f}: "
            f"{self.used} is used"
        )


@dataclass(frozen=True)
class LearnedMentor:
    """A mentor that was learned in a run, the progress at that time, and which update it was.

    Attributes:
        mentor: the mentor.
        progress: the progress of training in percent.
        number: the number of the update, from 1.
    """

    mentor: Mentor
    progress: int
    number: int


class Learning(nn.Module):
    """Learns a mentor at each of the `updates`, and uses it if it beats the predefined rule.

    The mentor learns from the student's latest losses on the given labels of verified samples
    (`Lessons`). A share of these samples is held out. If the mean of (v − v*)² on them is not
    smaller than with the predefined rule, the predefined rule is used, unless `fallback` is off.
    (If the student is taught the verdicts, it never memorises the wrong labels of these samples.
    They are then easier to tell from correct ones than others are, and the mentor is slightly
    overconfident. The gain for the student outweighs that.)

    Its `state_dict` has one entry: the mentors so far, and what the next one learns from.

    Args:
        verdicts: the verdicts on labels.
        count: N, the number of training samples.
        predefined: the rule to beat, which is used until the first update.
        total_steps: the number of steps of the whole training.
        classes: K.
        config: see `LearningConfig`.
        begun: the number of steps that were taken before.
        seed: seed of the split, of the initial parameters and of the order of samples.
    """

    def __init__(
        self,
        verdicts: Verdicts,
        *,
        count: int,
        predefined: Rule,
        total_steps: int,
        classes: int = 1,
        config: LearningConfig | None = None,
        begun: int = 0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        verdicts.check(count)
        self.config, self.seed, self.total_steps = config or LearningConfig(), seed, total_steps
        self._predefined = (predefined,)  # in a tuple, so that Θ is not part of the state
        self._sizes = {
            "history": self.config.history,
            "num_classes": classes if self.config.reads_label else 1,
            "use_label": self.config.reads_label,
        }
        self.fresh_mentor()  # raises at once if it cannot be made
        self.lessons = Lessons(verdicts, history=self.config.history, seed=seed)
        self.due = [math.ceil(share * total_steps) for share in self.config.updates]
        self.steps = begun
        self.done = max(0, sum(begun > due for due in self.due) - 1)  # the last is still due
        self.mentors: dict[str, LearnedMentor] = {}
        self._rule = self._predefined
        self.outcomes: list[Outcome] = []

    @property
    def verdicts(self) -> Verdicts:
        """The verdicts that it learns from."""
        return self.lessons.verdicts

    @property
    def simulates_wrong(self) -> bool:
        """Whether wrong labels are simulated, because all verdicts say "correct"."""
        return self.lessons.simulates_wrong

    @property
    def rule(self) -> Rule:
        """The rule to use until the next update."""
        return self._rule[0]

    @property
    def predefined(self) -> Rule:
        """The rule to beat."""
        return self._predefined[0]

    def fresh_mentor(self) -> Mentor:
        """Return a mentor that has learned nothing yet."""
        return make_mentor(self.config.architecture, seed=self.seed, **self._sizes)

    @property
    def is_due(self) -> bool:
        """Whether an update is due and the student has seen enough verified samples."""
        due = self.done < len(self.due) and self.steps >= self.due[self.done]
        return due and int(self.lessons.seen().sum()) >= _ENOUGH

    def observe(self, features: MentorFeatures, index: Tensor, wrong: Tensor | None = None) -> None:
        """Store one step; see `Lessons.observe`."""
        self.lessons.observe(features, index, wrong)
        if not torch.compiler.is_compiling():
            self.steps += 1

    def update(self, noise_rate: float | None = None) -> Rule:
        """Learn a mentor now, and return the rule to use until the next update.

        Args:
            noise_rate: the share of wrong labels to simulate, if they are simulated.
        """
        now = self._percent(self.steps)
        self.done += 1
        later = self.due[self.done] if self.done < len(self.due) else self.total_steps
        with torch.inference_mode(False):  # also in a loop under inference mode
            rule, outcome = self._learned(now, self._percent(later), noise_rate)
        self._rule = (self._agreed(rule),)
        self.outcomes.append(outcome)
        if isinstance(self.rule, Mentor) and self.rule is not self.predefined:
            name = f"{self.done}-at-{now:02d}"
            self.mentors[name] = LearnedMentor(self.rule, now, self.done)
        return self.rule

    def _percent(self, steps: int) -> int:
        return min(PERCENT - 1, steps * PERCENT // self.total_steps)

    def _learned(self, now: int, until: int, noise_rate: float | None) -> tuple[Rule, Outcome]:
        lesson, sample = self.lessons.lesson(now, noise_rate)
        count = int(self.lessons.seen().sum())
        if lesson.target.bool().all():
            return Uniform(), Outcome(now, count, 0.0, 0.0, "every label found right: v = 1")
        mentor = self.fresh_mentor().to(lesson.target.device)
        lesson, unknown = self._readable(lesson, sample)
        first = int(unknown[0]) if len(unknown) else None
        record = fit_labels(
            mentor, lesson.features, lesson.target.bool(), self.config.fit(), sample=sample,
            held_out=self.config.held_out, seed=self.seed,
            shown=lambda taught: self.lessons.later(taught, now, until, unknown=first),
        )  # fmt: skip
        if first is not None:
            mentor.share_label(unknown, first)
        mentor.eval().requires_grad_(False)
        held_out = record.held_out
        if held_out is None:
            return mentor, Outcome(now, count, None, None, "the learned one")
        error, before = (_squared_error(rule, held_out) for rule in (mentor, self.predefined))
        if error < before or not self.config.fallback:
            return mentor, Outcome(now, count, error, before, "the learned one")
        return self.predefined, Outcome(now, count, error, before, "the predefined one")

    def _readable(self, lesson: Lesson, sample: Tensor) -> tuple[Lesson, Tensor]:
        """Return the lesson with labels that the mentor can learn to read, and all other classes.

        A class with too few verified samples tells the mentor nothing about its label. All such
        classes are read as the first of them.
        """
        classes = self._sizes["num_classes"]
        rows = torch.zeros(int(sample.max()) + 1, dtype=torch.long, device=sample.device)
        rows[sample] = lesson.features.label  # each sample once
        unknown = (torch.bincount(rows, minlength=classes) < _ENOUGH).nonzero()[:, 0]
        if not self.config.reads_label or not len(unknown):
            return lesson, unknown[:0]
        label = lesson.features.label
        label = torch.where(torch.isin(label, unknown), unknown[0], label)
        return Lesson(replace(lesson.features, label=label), lesson.target), unknown

    def _agreed(self, rule: Rule) -> Rule:
        """Return the rule of process 0 in every process, as machines may round differently."""
        processes = Processes.here()
        if processes.alone:
            return rule
        kind = 0 if rule is self.predefined else 1 if isinstance(rule, Uniform) else 2
        chosen = torch.tensor([kind], device=self.verdicts.index.device)
        processes.follow(chosen)
        if chosen.item() < 2:
            return Uniform() if chosen.item() else self.predefined
        mentor = rule if kind == 2 else self.fresh_mentor().to(chosen.device)
        assert isinstance(mentor, Mentor)
        mentor.eval().requires_grad_(False)
        processes.follow(*mentor.state_dict().values())
        return mentor

    def _apply(self, fn: Any, recurse: bool = True) -> Learning:
        """Move the lessons and the mentors together with this module."""
        super()._apply(fn, recurse)
        self.lessons.to(fn(torch.empty(0)).device)
        for learned in self.mentors.values():
            learned.mentor._apply(fn, recurse)
        if isinstance(self.predefined, nn.Module):
            self.predefined._apply(fn, recurse)
        return self

    def get_extra_state(self) -> dict[str, Any]:
        """Return everything that later steps depend on."""
        now = next((name for name, it in self.mentors.items() if it.mentor is self.rule), None)
        return {
            "lessons": self.lessons.state_dict(),
            "steps": self.steps,
            "done": self.done,
            "mentors": {name: it.mentor.state_dict() for name, it in self.mentors.items()},
            "points": {name: (it.progress, it.number) for name, it in self.mentors.items()},
            "uniform": isinstance(self.rule, Uniform),
            "now": now,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
        }

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        self.lessons.load_state_dict(state["lessons"])
        self.steps, self.done = state["steps"], state["done"]
        self.outcomes = [Outcome(**outcome) for outcome in state["outcomes"]]
        self.mentors = {}
        for name, weights in state["mentors"].items():
            mentor = self.fresh_mentor().eval().requires_grad_(False)
            mentor.load_state_dict(weights)
            mentor.to(self.verdicts.index.device)
            self.mentors[name] = LearnedMentor(mentor, *state["points"][name])
        learned = self.mentors.get(state["now"])
        self._rule = self._predefined if learned is None else (learned.mentor,)
        if state["uniform"]:
            self._rule = (Uniform(),)


@torch.no_grad()
def _squared_error(rule: Rule, lesson: Lesson) -> float:
    """Return the mean of (v − v*)²; if all v are 0 or 1, it is the share of mistakes."""
    return ((rule.weight(lesson.features) - lesson.target) ** 2).mean().item()
