from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from mentornet import (
    FitConfig,
    Mentor,
    MentorFeatures,
    MentorNetError,
    enumerate_features,
    fit_curriculum,
    fit_labels,
    make_curriculum,
    make_mentor,
)
from mentornet.mentors import Lesson, error_of, fit, implicit
from mentornet.randomness import generator

GOLDEN = Path(__file__).parents[1] / "golden" / "fit_trace.txt"


def test_implicit_training_learns_a_curriculum() -> None:
    mentor, curriculum = make_mentor("bilstm"), make_curriculum("pd")
    features = enumerate_features(20_000)
    before = error_of(mentor, Lesson(features, curriculum(features)))
    record = fit_curriculum(mentor, curriculum, features, FitConfig(steps=600))
    assert record.error < 2e-3 < before
    assert record.error == error_of(mentor, Lesson(features, curriculum(features)))


def test_explicit_training_reaches_the_same_weights_without_seeing_them() -> None:
    mentor, curriculum = make_mentor("bilstm"), make_curriculum("pd")
    record = fit_curriculum(
        mentor, curriculum, enumerate_features(20_000), FitConfig(steps=600), objective="explicit"
    )
    assert record.error < 5e-3


def test_binary_targets_are_learned_on_samples_kept_back() -> None:
    """Labels that are correct exactly where the loss is small, but for one in twenty."""
    draw = generator(0)
    loss = torch.rand(4000, generator=draw) * 6
    is_correct = (loss < 2) ^ (torch.rand(4000, generator=draw) < 0.05)
    features = MentorFeatures.from_loss(loss, loss_level=3.0)
    mentor = make_mentor("bilstm")
    record = fit_labels(mentor, features, is_correct, FitConfig(steps=500, learning_rate=0.03))
    assert record.error < 0.26  # the entropy of one in twenty is 0.199, the prior's is 0.64
    easy = MentorFeatures.from_loss(torch.tensor([0.5, 5.0]), loss_level=3.0)
    assert mentor.weigh(easy)[0] > 0.85
    assert mentor.weigh(easy)[1] < 0.15


def test_the_seed_fixes_everything() -> None:
    def run(seed: int) -> tuple[list[float], torch.Tensor]:
        mentor = make_mentor("bilstm", seed=seed)
        config = FitConfig(steps=20, evaluations=4, seed=seed)
        record = fit_curriculum(mentor, make_curriculum("focal"), enumerate_features(2000), config)
        return record.errors, mentor.weigh(enumerate_features(50))

    errors, weight = run(1)
    again, same = run(1)
    other, _ = run(2)
    assert errors == again
    assert torch.equal(weight, same)
    assert errors != other


def test_golden_trace() -> None:
    """Twenty steps of the error; a change of this file is a decision."""
    record = fit_curriculum(
        make_mentor("bilstm", history=10),
        make_curriculum("linear"),
        enumerate_features(5000, history=10),
        FitConfig(steps=20, evaluations=20, learning_rate=0.03),
    )
    expected = [float(line) for line in GOLDEN.read_text().split()]
    assert record.errors == pytest.approx(expected, rel=1e-3)


def test_stops_at_the_goal() -> None:
    record = fit_curriculum(
        make_mentor("bilstm"),
        make_curriculum("uniform"),
        enumerate_features(2000),
        FitConfig(steps=2000, goal=1e-3),
    )
    assert record.stopped == "goal reached"
    assert record.error <= 1e-3
    assert record.steps[-1] < 2000


def test_stops_when_it_gets_no_better_and_keeps_the_best() -> None:
    mentor = make_mentor("logistic")
    features = enumerate_features(2000)
    lesson = Lesson(features, make_curriculum("pd")(features))

    def uphill(logit: torch.Tensor, target: torch.Tensor, z: MentorFeatures) -> torch.Tensor:
        return -implicit(logit, target, z)

    config = FitConfig(steps=400, evaluations=100, patience=3)
    record = fit(mentor, lesson, uphill, error=implicit, config=config)
    assert record.stopped == "no improvement"
    assert len(record.errors) - 1 - record.errors.index(min(record.errors)) == 3
    assert record.error == pytest.approx(min(record.errors))


def test_progress_is_reported() -> None:
    seen: list[int] = []
    fit_curriculum(
        make_mentor("mlp"),
        make_curriculum("focal"),
        enumerate_features(500),
        FitConfig(steps=10, evaluations=5),
        on_progress=lambda step, error: seen.append(step),
    )
    assert seen == [2, 4, 6, 8, 10]


BAD_VERIFIED = [
    (torch.ones(10, dtype=torch.bool), 0.2, "all correct"),
    (torch.zeros(10, dtype=torch.bool), 0.2, "all wrong"),
    (torch.ones(9, dtype=torch.bool), 0.2, r"shape (10,)"),
    (torch.ones(10), 0.2, "must be boolean"),
    (torch.arange(10) < 5, -0.1, "held_out must leave samples on both sides"),
    (torch.arange(10) < 5, 1.0, "held_out must leave samples on both sides"),
]


@pytest.mark.parametrize(("is_correct", "held_out", "message"), BAD_VERIFIED)
def test_verified_samples_that_teach_nothing(
    is_correct: torch.Tensor, held_out: float, message: str
) -> None:
    features = MentorFeatures.from_loss(torch.linspace(0, 1, 10))
    with pytest.raises(MentorNetError, match=re.escape(message)):
        fit_labels(make_mentor("mlp"), features, is_correct, held_out=held_out)


def test_explicit_training_needs_a_known_g() -> None:
    with pytest.raises(MentorNetError, match="focal has no known G"):
        fit_curriculum(
            make_mentor("mlp"),
            make_curriculum("focal"),
            enumerate_features(100),
            objective="explicit",
        )


def test_a_loaded_mentor_can_learn_on_and_is_left_as_it_was() -> None:
    mentor = Mentor.from_pretrained("pd")
    threads, before = torch.get_num_threads(), mentor.weigh(enumerate_features(100))
    fit_curriculum(mentor, make_curriculum("focal"), enumerate_features(500), FitConfig(steps=30))
    assert not torch.equal(mentor.weigh(enumerate_features(100)), before)
    assert not mentor.training
    assert not any(parameter.requires_grad for parameter in mentor.parameters())
    assert torch.get_num_threads() == threads


def test_an_error_that_is_not_finite_stops_the_fit() -> None:
    def broken(logit: torch.Tensor, target: torch.Tensor, z: MentorFeatures) -> torch.Tensor:
        return logit * float("nan")

    features = enumerate_features(100)
    lesson = Lesson(features, make_curriculum("pd")(features))
    with pytest.raises(MentorNetError, match="error is nan at step"):
        fit(make_mentor("mlp"), lesson, implicit, error=broken)
