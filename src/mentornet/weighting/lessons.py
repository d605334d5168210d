"""What a mentor learns from: the student's latest losses on verified samples."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors import Lesson
from mentornet.randomness import generator
from mentornet.verdicts import Verdicts

__all__ = ["Lessons"]

_REPEATS = 16  # copies of a verified sample, each at another progress
_UNKNOWN = 4  # how many of these copies have the label that stands for unknown classes
_COLUMNS = ("loss", "difference", "label", "wrong")


class Lessons:
    """Stores the features of verified samples, and makes lessons of them.

    A learned mentor is used until the next update. So every sample is shown to it with random
    progress values from now to that update (`later`). Otherwise its weights would be arbitrary for
    progress values that it has never read.

    If all verdicts say "correct" (`simulates_wrong`), wrong labels are simulated: a verified sample
    is used a second time as a wrong one, with the student's loss on a class that it does not
    predict. A mentor that reads several losses cannot learn from that: all weights are then 1.

    Args:
        verdicts: the M verdicts on labels.
        history: T, how many losses of a sample the mentor reads.
        seed: seed of the random draws.
    """

    def __init__(self, verdicts: Verdicts, *, history: int = 1, seed: int = 0) -> None:
        self.verdicts, self.seed = verdicts, seed
        self.simulates_wrong = history == 1 and bool(verdicts.is_correct.all())
        size, device = len(verdicts.index), verdicts.index.device
        self._index, self._row = verdicts.index.sort()  # so that other samples take no memory
        # The last row is a dummy: samples without a verdict are written there.
        self._loss = torch.full((size + 1, history), torch.nan, device=device)
        self._difference = torch.zeros((size + 1, history), device=device)
        self._label = torch.zeros(size + 1, dtype=torch.long, device=device)
        self._wrong = torch.full((size + 1,), torch.nan, device=device)

    @torch.no_grad()
    def observe(self, features: MentorFeatures, index: Tensor, wrong: Tensor | None = None) -> None:
        """Store the features of those samples of a batch that have a verdict.

        Args:
            features: the features of the batch.
            index: the numbers of the samples, `(B,)`.
            wrong: their losses on a class that is not the predicted one, `(B,)`.
        """
        place = torch.searchsorted(self._index, index).clamp(max=len(self._index) - 1)
        slot = torch.where(self._index[place] == index, self._row[place], len(self._row))
        self._loss[slot] = features.loss.float()
        self._difference[slot] = features.difference.float()
        self._label[slot] = features.label
        if wrong is not None:
            self._wrong[slot] = wrong.float()

    def seen(self) -> Tensor:
        """Return which verified samples the student has seen so far, `(M,)`."""
        unseen = self._loss.isnan().any(1)
        return ~(unseen | self._wrong.isnan() if self.simulates_wrong else unseen)[:-1]

    def lesson(self, now: int, noise_rate: float | None = None) -> tuple[Lesson, Tensor]:
        """Return the lesson at progress `now`, and the sample that each row belongs to.

        Args:
            now: progress in percent.
            noise_rate: the share of wrong labels to simulate, if they are simulated; None for ½.
        """
        seen = self.seen()
        label = self._label[:-1][seen]
        features = MentorFeatures(
            self._loss[:-1][seen],
            self._difference[:-1][seen],
            label,
            torch.full_like(label, now),
        )
        target = self.verdicts.is_correct[seen].float()
        sample = torch.arange(len(target), device=target.device)
        if not self.simulates_wrong:
            return Lesson(features, target), sample
        chosen = self._simulated(len(target), 0.5 if noise_rate is None else noise_rate)
        loss = self._wrong[:-1][seen][chosen, None]
        right = features.rows(chosen)
        wrong = replace(right, loss=loss, difference=right.difference - right.loss + loss)
        return (
            Lesson(features.joined(wrong), torch.cat([target, torch.zeros_like(loss[:, 0])])),
            torch.cat([sample, chosen]),
        )

    def _simulated(self, count: int, rate: float) -> Tensor:
        """Return the samples to use as wrong ones too: ε of them to 1 − ε correct ones."""
        copies = min(round(count * rate / max(1 - rate, 1e-6)), 9 * count)
        order = torch.randperm(count, generator=generator(self.seed, 2))
        return order.repeat(math.ceil(copies / count))[:copies].to(self._label.device)

    def later(self, lesson: Lesson, now: int, until: int, *, unknown: int | None = None) -> Lesson:
        """Repeat every row of the lesson, with random progress from `now` to `until`.

        Args:
            lesson: the rows.
            now: progress in percent.
            until: the same at the next update.
            unknown: a label that stands for classes without verified samples; each row is shown
                with it too. None if there are no such classes.
        """
        features = lesson.features.repeat(_REPEATS)
        last = max(now + 1, min(until + 1, PERCENT))
        draw = generator(self.seed, 1)
        progress = torch.randint(now, last, (features.batch_size,), generator=draw)
        label = features.label
        if unknown is not None:
            copy = torch.arange(features.batch_size, device=label.device) % _REPEATS
            label = torch.where(copy < _UNKNOWN, unknown, label)
        return Lesson(
            replace(features, label=label, progress=progress.to(label.device)),
            lesson.target.repeat_interleave(_REPEATS),
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the stored features."""
        return {name: getattr(self, f"_{name}")[:-1].clone() for name in _COLUMNS}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a `state_dict`."""
        for name in _COLUMNS:
            getattr(self, f"_{name}")[:-1] = state[name]

    def to(self, device: torch.device | str) -> None:
        """Move all tensors to that device."""
        self.verdicts = self.verdicts.to(device)
        for name in ("index", "row", *_COLUMNS):
            setattr(self, f"_{name}", getattr(self, f"_{name}").to(device))
