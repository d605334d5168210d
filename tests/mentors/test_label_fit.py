"""The one split of verified samples, and what its parts are for."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from mentornet import FitConfig, MentorFeatures, fit_labels, make_mentor
from mentornet.mentors import Lesson, fit
from mentornet.randomness import generator

SAMPLES = 100


def split(
    rows_each: int, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[list[set[int]], list[int]]:
    """Which samples are learned from, say when to stop and are held out; and how many rows."""
    rows = SAMPLES * rows_each
    order = torch.randperm(rows, generator=generator(9))
    sample = order % SAMPLES
    parts: dict[str, Lesson] = {}

    def watched(mentor: Any, lesson: Lesson, *words: Any, evaluated_on: Lesson, **more: Any) -> Any:
        parts["stops"] = evaluated_on
        return fit(mentor, lesson, *words, evaluated_on=evaluated_on, **more)

    def shown(lesson: Lesson) -> Lesson:
        parts["learned"] = lesson
        return lesson

    monkeypatch.setattr("mentornet.mentors.label_fit.fit", watched)
    record = fit_labels(
        make_mentor("mlp"), MentorFeatures.from_loss(sample.float()), sample % 3 > 0,
        FitConfig(steps=2), sample=sample if rows_each > 1 else None, shown=shown, **options,
    )  # fmt: skip
    assert record.held_out is not None
    found = [parts["learned"], parts["stops"], record.held_out]
    for part in found:
        of = part.features.current_loss.long()
        assert torch.equal(part.target.bool(), of % 3 > 0)  # targets stay with their rows
    each = [part.features.current_loss.long().tolist() for part in found]
    return [set(part) for part in each], [len(part) for part in each]


@pytest.mark.parametrize("rows_each", [1, 4])
def test_a_sample_is_in_one_part_with_all_its_rows(
    rows_each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fifth is held out; of the rest a fifth says when to stop."""
    samples, rows = split(rows_each, monkeypatch)
    assert [len(part) for part in samples] == [64, 16, 20]
    assert rows == [64 * rows_each, 16 * rows_each, 20 * rows_each]
    assert len(set.union(*samples)) == SAMPLES


def test_the_share_and_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    half, _ = split(1, monkeypatch, held_out=0.5)
    assert [len(part) for part in half] == [40, 10, 50]
    assert split(1, monkeypatch, seed=3)[0] == split(1, monkeypatch, seed=3)[0]
    assert split(1, monkeypatch, seed=3)[0] != split(1, monkeypatch, seed=4)[0]


def test_the_error_is_the_cross_entropy_on_what_was_held_out() -> None:
    is_correct = torch.rand(SAMPLES, generator=generator(1)) < 0.6
    losses = torch.where(is_correct, 0.5, 2.0) + torch.rand(SAMPLES, generator=generator(2))
    mentor = make_mentor("mlp")
    record = fit_labels(mentor, MentorFeatures.from_loss(losses), is_correct, FitConfig(steps=50))
    assert record.held_out is not None
    weights = mentor.weigh(record.held_out.features).tolist()
    expected = [
        -math.log(v if right else 1 - v)
        for v, right in zip(weights, record.held_out.target.tolist(), strict=True)
    ]
    assert record.error == pytest.approx(sum(expected) / len(expected), rel=1e-4)
