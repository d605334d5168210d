"""Fit a mentor to verified samples: it learns which labels are correct (§3.1)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures
from mentornet.mentors.fitting import FitConfig, FitRecord, Lesson, Progress, error_of, fit
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.objectives import binary
from mentornet.randomness import generator

__all__ = ["fit_labels"]

_STOP = 0.2  # share of the samples that decides when to stop, of those that are not held out
_FEWEST = 2  # the smallest number of samples in each part that is not learned from


def fit_labels(
    mentor: Mentor,
    features: MentorFeatures,
    is_correct: Tensor,
    config: FitConfig | None = None,
    *,
    sample: Tensor | None = None,
    held_out: float = 0.2,
    seed: int = 0,
    shown: Callable[[Lesson], Lesson] | None = None,
    on_progress: Progress | None = None,
) -> FitRecord:
    """Fit `mentor` to which labels are correct; the error is the cross-entropy when held out.

    A share of the samples is held out for that error (`FitRecord.held_out`). Of the rest, one in
    five decides when to stop, and the mentor learns from the others.

    Args:
        mentor: the mentor, which is changed in place; it ends at its lowest error.
        features: the features of the verified samples, one or several rows per sample.
        is_correct: whether the given label of each row is correct, `(B,)`, boolean.
        config: see `FitConfig`.
        sample: the number of the sample that each row belongs to, `(B,)`; a sample is held out with
            all its rows. None if each row is a sample.
        held_out: share of the samples that the error is computed on, in [0, 1). With 0, it is
            computed on the samples that decide when to stop.
        seed: seed of the random split.
        shown: a function that is applied to the rows to learn from, such as augmentation.
        on_progress: see `Progress`.
    """
    count = features.batch_size
    if is_correct.shape != (count,) or is_correct.dtype != torch.bool:
        raise MentorNetError(
            f"is_correct must be boolean of shape ({count},), "
            f"got {is_correct.dtype} of shape {tuple(is_correct.shape)}"
        )
    if is_correct.all() or not is_correct.any():
        raise MentorNetError(
            "verified samples must include correct and wrong labels, "
            f"got {count} that are all {'correct' if is_correct.all() else 'wrong'}"
        )
    lesson = Lesson(features, is_correct.to(features.loss.dtype))
    learned, stops, held = (lesson.rows(rows) for rows in _split(count, sample, held_out, seed))
    learned = learned if shown is None else shown(learned)
    record = fit(
        mentor, learned, binary, error=binary, evaluated_on=stops, config=config,
        on_progress=on_progress,
    )  # fmt: skip
    if held.target.numel():
        record.held_out, record.error = held, error_of(mentor, held, binary)
    return record


def _split(
    count: int, sample: Tensor | None, held_out: float, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows to learn from, those that decide when to stop, and those held out."""
    of_row = torch.arange(count) if sample is None else sample.cpu()
    samples = int(of_row.max()) + 1
    held = max(_FEWEST, round(samples * held_out)) if held_out > 0 else 0
    stop = max(_FEWEST, round((samples - held) * _STOP))
    if not 0 <= held < samples - stop or not 0 <= held_out < 1:
        raise MentorNetError(
            f"held_out must leave samples on both sides, got {held_out:g} of {samples} samples"
        )
    order = torch.randperm(samples, generator=generator(seed, 0))
    place = torch.empty_like(order)
    place[order] = torch.arange(samples)
    rows = place[of_row].argsort(stable=True)
    ends = torch.searchsorted(place[of_row][rows], torch.tensor([held, held + stop])).tolist()
    return rows[ends[1] :], rows[ends[0] : ends[1]], rows[: ends[0]]
