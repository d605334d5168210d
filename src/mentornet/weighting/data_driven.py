"""A curriculum learned from verified samples while the student trains (§3.1, App. E)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from mentornet.curricula import Curriculum, Uniform
from mentornet.errors import MentorNetError
from mentornet.features import EPOCHS, MentorFeatures
from mentornet.mentors import FitConfig, Lesson, Mentor, binary, fit, make_mentor
from mentornet.randomness import generator
from mentornet.verdicts import Verdicts
from mentornet.weighting.spade import apply_rule

__all__ = ["DataDriven", "Outcome"]

_REPEATS = 16  # copies of a verified sample, each shown at another progress of training


@dataclass(frozen=True)
class Outcome:
    """What came of one lesson.

    Attributes:
        epoch: when, as progress in percent.
        samples: how many verified samples it was learned from.
        error: of the learned mentor on those held out, the mean of (v − v*)².
        error_before: of the predefined one.
        used: which of the two goes on.
    """

    epoch: int
    samples: int
    error: float
    error_before: float
    used: str

    def __str__(self) -> str:
        return (
            f"at {self.epoch} %: mentor learned from {self.samples} verified samples, held-out "
            f"error {self.error:.3f}, predefined {self.error_before:.3f}: {self.used} is used"
        )


class DataDriven:
    """Remembers the losses of the verified samples, and learns mentors from them.

    What is learned from is what the student's own steps saw of the verified samples last, with the
    labels they were given. One in five is held out, and of the rest one in five says when to stop.
    Unless the learned mentor comes closer to v* on those held out than the predefined one, the
    predefined one stays. (Where the student is taught what is known of verified samples, it never
    learns their wrong labels by heart. They are then told apart more easily than others, and the
    mentor is a little too sure of itself; what they teach the student is worth more than that.)

    A mentor that is learned now will serve for some while, so every verified sample is shown to
    it at random progresses from now to the end of that while: it has not seen them, and would
    otherwise be as good as random in the epochs to come.

    Where only right labels were verified (`plays_wrong`), wrong ones are played: each verified
    sample also stands for one with another label, whose loss is what the student gives to a class
    that it does not predict, as often as labels are thought to be wrong.

    Args:
        verified: what to learn from.
        count: N, the training samples.
        predefined: the rule to beat.
        classes: K.
        history: T, how many losses of a sample the mentor reads.
        architecture: of the mentor.
        reads_label: whether the mentor sees the given label.
        plays_wrong: whether wrong labels are to be played, as all verified ones are right.
        fit: how long and how fast it learns.
        seed: of the split, of the starting values and of the order.
    """

    def __init__(
        self,
        verified: Verdicts,
        *,
        count: int,
        predefined: Mentor | Curriculum,
        classes: int,
        history: int = 1,
        architecture: str = "bilstm",
        reads_label: bool = False,
        plays_wrong: bool = False,
        fit: FitConfig | None = None,
        seed: int = 0,
    ) -> None:
        verified.check(count)
        if plays_wrong and history > 1:
            raise MentorNetError(
                f"with right labels only a mentor reads one loss a sample, got history {history}; "
                "verify some wrong labels too (learn_from)"
            )
        self.verified, self.predefined, self.seed = verified, predefined, seed
        self.plays_wrong = plays_wrong
        self.fit = fit or FitConfig(steps=600, learning_rate=0.03, evaluations=20)
        self.sizes = {
            "history": history,
            "num_classes": classes if reads_label else 1,
            "use_label": reads_label,
        }
        self.architecture = architecture
        self.fresh_mentor()  # says so at once if it cannot be made
        size = len(verified.index)
        device = verified.index.device
        self._slot = torch.full((count,), size, dtype=torch.int32, device=device)
        self._slot[verified.index] = torch.arange(size, dtype=torch.int32, device=device)
        # One row more than there are verified samples: all the others are written there.
        self._loss = torch.full((size + 1, history), torch.nan, device=device)
        self._difference = torch.zeros((size + 1, history), device=device)
        self._label = torch.zeros(size + 1, dtype=torch.long, device=device)
        self._wrong = torch.full((size + 1,), torch.nan, device=device)

    def fresh_mentor(self) -> Mentor:
        """A mentor that has learned nothing yet."""
        return make_mentor(self.architecture, seed=self.seed, **self.sizes)

    @torch.no_grad()
    def observe(self, features: MentorFeatures, index: Tensor, wrong: Tensor | None = None) -> None:
        """Remember the features of whichever of the samples at `index` are verified.

        Args:
            features: of the batch.
            index: which samples they are, `(B,)`.
            wrong: what their losses would be on a class that is not predicted, `(B,)`.
        """
        slot = self._slot[index].long()
        self._loss[slot] = features.loss.float()
        self._difference[slot] = features.difference.float()
        self._label[slot] = features.label
        if wrong is not None:
            self._wrong[slot] = wrong.float()

    @property
    def ready(self) -> bool:
        """Whether enough of the verified samples were trained on to learn from."""
        return int(self._seen().sum()) >= 10

    def _seen(self) -> Tensor:
        unseen = self._loss.isnan().any(1)
        return ~(unseen | self._wrong.isnan() if self.plays_wrong else unseen)[:-1]

    def learn(
        self, now: int, until: int, noise_rate: float | None = None
    ) -> tuple[Mentor | Curriculum, Outcome]:
        """The rule to go on with, and what was found.

        Args:
            now: progress in percent.
            until: the progress up to which the rule is to serve.
            noise_rate: how often wrong labels are played, where they are.
        """
        lesson = self._remembered(now)
        count = len(lesson.target)
        if self.plays_wrong:
            lesson = self._with_wrong(lesson, 0.5 if noise_rate is None else noise_rate)
        if lesson.target.bool().all():
            outcome = Outcome(now, count, 0.0, 0.0, "every label found right: v = 1")
            return Uniform(), outcome
        taught, stopped_by, judged = self._split(lesson)
        mentor = self.fresh_mentor().to(lesson.target.device)
        fit(
            mentor,
            self._at_later(taught, now, until),
            binary,
            error=binary,
            judged_on=stopped_by,
            config=self.fit,
        )
        mentor.eval().requires_grad_(False)
        error, before = _squared_error(mentor, judged), _squared_error(self.predefined, judged)
        better = error < before
        used = "the learned one" if better else "the predefined one"
        rule = mentor if better else self.predefined
        return rule, Outcome(now, count, error, before, used)

    def _remembered(self, now: int) -> Lesson:
        seen = self._seen()
        label = self._label[:-1][seen]
        features = MentorFeatures(
            self._loss[:-1][seen],
            self._difference[:-1][seen],
            label,
            torch.full_like(label, now),
        )
        return Lesson(features, self.verified.is_correct[seen].float())

    def _with_wrong(self, lesson: Lesson, rate: float) -> Lesson:
        """The same samples and, ε to 1 − ε, samples whose label is another."""
        count = len(lesson.target)
        played = min(round(count * rate / max(1 - rate, 1e-6)), 9 * count)
        if played == 0:
            return lesson
        order = torch.randperm(count, generator=generator(self.seed, 2))
        chosen = order.repeat(math.ceil(played / count))[:played].to(lesson.target.device)
        loss = self._wrong[:-1][self._seen()][chosen, None]
        right = lesson.features.rows(chosen)
        wrong = replace(right, loss=loss, difference=right.difference - right.loss + loss)
        return Lesson(
            lesson.features.joined(wrong), torch.cat([lesson.target, torch.zeros_like(loss[:, 0])])
        )

    def _split(self, lesson: Lesson) -> tuple[Lesson, Lesson, Lesson]:
        """What is learned from, what says when to stop, what is judged on."""
        count = len(lesson.target)
        order = torch.randperm(count, generator=generator(self.seed, 0)).to(lesson.target.device)
        held_out = max(2, round(count / 5))
        stop = held_out + max(2, round((count - held_out) / 5))
        parts = (order[stop:], order[held_out:stop], order[:held_out])
        return lesson.rows(parts[0]), lesson.rows(parts[1]), lesson.rows(parts[2])

    def _at_later(self, lesson: Lesson, now: int, until: int) -> Lesson:
        features = lesson.features.repeat(_REPEATS)
        last = max(now + 1, min(until + 1, EPOCHS))
        draw = generator(self.seed, 1)
        epoch = torch.randint(now, last, (features.batch_size,), generator=draw)
        return Lesson(
            replace(features, epoch=epoch.to(features.label.device)),
            lesson.target.repeat_interleave(_REPEATS),
        )

    def state_dict(self) -> dict[str, Any]:
        """What the next lesson would be learned from."""
        return {
            "loss": self._loss[:-1].clone(),
            "difference": self._difference[:-1].clone(),
            "label": self._label[:-1].clone(),
            "wrong": self._wrong[:-1].clone(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict`."""
        self._loss[:-1] = state["loss"]
        self._difference[:-1] = state["difference"]
        self._label[:-1] = state["label"]
        self._wrong[:-1] = state["wrong"]

    def to(self, device: torch.device | str) -> DataDriven:
        """Go to that device."""
        self.verified = self.verified.to(device)
        for name in ("_slot", "_loss", "_difference", "_label", "_wrong"):
            setattr(self, name, getattr(self, name).to(device))
        if isinstance(self.predefined, Mentor):
            self.predefined.to(device)
        return self


@torch.no_grad()
def _squared_error(rule: Mentor | Curriculum, lesson: Lesson) -> float:
    """The mean of (v − v*)²: for a rule of 0s and 1s, how many it gets wrong."""
    return ((apply_rule(rule, lesson.features) - lesson.target) ** 2).mean().item()
