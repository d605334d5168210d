"""Probabilities that are made to agree with a share of wrong labels."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mentornet.mentors.universal import UniversalMentor
from mentornet.weighting.calibration import calibrated, evidence_for, with_right
from mentornet.weighting.posterior import LabelPosterior

CLASSES = 3


def posterior(right: Tensor) -> LabelPosterior:
    """Return a posterior with these r(y); the rest is 3 to 1 for the class after y."""
    label = torch.arange(len(right)) % CLASSES
    true = torch.zeros(len(right), CLASSES, dtype=torch.double)
    rows = torch.arange(len(right))
    true[rows, label] = right.double()
    true[rows, (label + 1) % CLASSES] = 0.75 * (1 - right.double())
    true[rows, (label + 2) % CLASSES] = 0.25 * (1 - right.double())
    return LabelPosterior(true, label, torch.eye(CLASSES).double(), 1.0)


def remade(found: LabelPosterior, rate: float) -> LabelPosterior:
    """Return the posterior by a mentor that only reads r(y)."""
    s = UniversalMentor({"posterior": 0.65})(evidence_for(found, found.true))
    return with_right(found, calibrated(s, torch.tensor(rate)))


@pytest.mark.parametrize("rate", [0.003, 0.2, 0.5, 0.93])
def test_the_share_of_wrong_labels_and_the_order_are_as_asked(rate: float) -> None:
    found = posterior(torch.rand(300, generator=torch.Generator().manual_seed(0)))
    made = remade(found, rate)
    assert made.noise_rate.item() == pytest.approx(rate, abs=1e-6)
    assert torch.equal(made.right.argsort(), found.right.argsort())
    assert torch.allclose(made.true.sum(1), torch.ones(300).double())
    assert torch.equal(made.given_label, found.given_label)


def test_the_log_odds_of_two_samples_stay_in_proportion_and_the_other_classes_too() -> None:
    found = posterior(torch.tensor([0.9, 0.6, 0.2, 0.5]))
    made = remade(found, 0.4)
    apart, before = made.right.logit().diff(), found.right.logit().diff()
    assert torch.allclose(apart, 0.65 * before)
    others = made.true[0, 1:] / made.true[0, 1:].sum()
    assert torch.allclose(others, torch.tensor([0.75, 0.25]).double())


def test_what_is_wholly_sure_stays_finite() -> None:
    found = posterior(torch.tensor([1.0, 0.0, 1.0, 0.0]))
    made = remade(found, 0.3)
    assert made.true.isfinite().all()
    assert made.noise_rate.item() == pytest.approx(0.3, abs=1e-4)
    assert (made.right[::2] > made.right[1::2].max()).all()


def test_the_mentor_reads_odds_and_margin_by_hand() -> None:
    found = posterior(torch.tensor([0.9, 0.2]))
    p = torch.tensor([[0.6, 0.3, 0.1], [0.5, 0.25, 0.25]])
    mentor = UniversalMentor({"posterior": 0.5, "margin": 2.0})
    expected = [
        0.5 * math.log(0.9 / 0.1) + 2 * math.log(0.6 / 0.3) / math.log(3),
        0.5 * math.log(0.2 / 0.8) + 2 * math.log(0.25 / 0.5) / math.log(3),
    ]
    assert mentor(evidence_for(found, p)).tolist() == pytest.approx(expected)
