"""What is known of verified samples counts for the student: its weight, and its label."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods import Task, make_method
from mentornet.randomness import seeded
from mentornet.verdicts import Verdicts
from mentornet.weighting import Evidence
from tests.methods.steps import AtWork

GIVEN = torch.tensor([0, 1, 2, 0, 1, 2])
VERIFIED = {0: (True, 0), 1: (False, 2), 2: (False, -1)}
"""Sample 0 is right, 1 should be a 2, and of 2 nobody said what it should be."""


def task(*, labels: bool = True) -> Task:
    """The three, and nine right ones that are not in the batch."""
    known = VERIFIED | dict.fromkeys(range(10, 19), (True, 0))
    is_correct = torch.tensor([right for right, _ in known.values()])
    label = torch.tensor([which for _, which in known.values()]) if labels else None
    verdicts = Verdicts(torch.tensor(list(known)), is_correct, label)
    return Task(count=20, classes=3, total_steps=100, verdicts=verdicts)


def batch() -> Batch:
    draw = torch.Generator().manual_seed(1)
    return Batch(torch.arange(6), torch.randn(6, 3, 2, 2, generator=draw), GIVEN)


def student() -> nn.Module:
    with seeded(3):
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 3))


def cross_entropy(logits: list[float], label: int) -> float:
    return math.log(sum(math.exp(value) for value in logits)) - logits[label]


@pytest.mark.parametrize("others", [0.0, 0.25, 1.0])
def test_the_loss_by_hand(others: float) -> None:
    taught, work = student(), AtWork(make_method("verified", others=others), task())
    done = work.step(taught, batch())
    logits = taught(batch().inputs).tolist()
    expected = (
        cross_entropy(logits[0], 0)  # right: as it is
        + cross_entropy(logits[1], 2)  # wrong: what it should be
        + others * sum(cross_entropy(logits[at], int(GIVEN[at])) for at in (3, 4, 5))
    ) / 6  # and nothing of sample 2
    assert done.loss.item() == pytest.approx(expected, rel=1e-5)
    assert done.decays is not None
    assert done.decays.tolist() == [1, 1, 0, others, others, others]  # of what is taught
    assert done.trust is not None
    assert done.trust.tolist() == [1, 0, 0, others, others, others]  # of the given labels


def test_records_keep_what_the_given_label_says() -> None:
    taught = student()
    done = AtWork(make_method("verified"), task()).step(taught, batch())
    logits = taught(batch().inputs).tolist()
    expected = [cross_entropy(row, int(given)) for row, given in zip(logits, GIVEN, strict=True)]
    assert done.evidence.losses.tolist() == pytest.approx(expected, rel=1e-5)


def test_with_verdicts_only_a_wrong_label_is_left_out() -> None:
    taught = student()
    work = AtWork(make_method("verified", others=0.0), task(labels=False))
    done = work.step(taught, batch())
    logits = taught(batch().inputs).tolist()
    assert done.loss.item() == pytest.approx(cross_entropy(logits[0], 0) / 6, rel=1e-5)


def test_dd_is_told_too() -> None:
    """In burn-in every other sample counts in full here."""
    settings = {"burn_in": 0.2, "burn_in_drop": 0.0, "steps": 20}
    taught, logits = student(), student()(batch().inputs).tolist()
    method = make_method("mentornet-dd", teaches_verified=True, **settings)
    done = AtWork(method, task()).step(taught, batch())
    plain = [cross_entropy(row, int(given)) for row, given in zip(logits, GIVEN, strict=True)]
    expected = (plain[0] + cross_entropy(logits[1], 2) + sum(plain[3:])) / 6
    assert done.loss.item() == pytest.approx(expected, rel=1e-5)
    as_paper = make_method("mentornet-dd", teaches_verified=False, **settings)
    done = AtWork(as_paper, task()).step(taught, batch())
    assert done.loss.item() == pytest.approx(sum(plain) / 6, rel=1e-5)


def test_bootstrap_learns_towards_what_is_known() -> None:
    """After burn-in, with nothing remembered but this look, t = v y + (1 − v) q."""
    method = make_method("mentor-bootstrap", teaches_verified=True, burn_in=0.0, steps=20)
    taught = student()
    work = AtWork(method, task())
    done = work.step(taught, batch())
    assert work.weights is not None
    logits = taught(batch().inputs)
    shares, given = logits.softmax(1), nn.functional.one_hot(GIVEN, 3).float()
    weight, given[1] = work.weights[:, None], torch.tensor([0.0, 0.0, 1.0])
    target = weight * given + (1 - weight) * shares
    expected = -(target * logits.log_softmax(1)).sum(1).mean()
    assert work.weights[:3].tolist() == [1, 1, 0]
    assert done.loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_in_burn_in_bootstrap_leaves_out_what_is_known_to_be_wrong() -> None:
    method = make_method("mentor-bootstrap", burn_in=0.5, steps=20)
    work = AtWork(method, task())
    work.step(student(), batch())
    assert work.weights is not None
    assert work.weights.tolist() == [1, 1, 0, 1, 1, 1]


def test_an_auxiliary_head_is_taught_the_same_labels() -> None:
    class Two(nn.Module):
        auxiliary_share = 0.5

        def __init__(self) -> None:
            super().__init__()
            self.main = student()

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.main(images)
            self.auxiliary_logits = 2 * logits
            return logits

    done = AtWork(make_method("verified", others=0.0), task()).step(Two(), batch())
    logits = student()(batch().inputs)
    first, twice = logits.tolist(), (2 * logits).tolist()
    main = cross_entropy(first[0], 0) + cross_entropy(first[1], 2)
    beside = cross_entropy(twice[0], 0) + cross_entropy(twice[1], 2)
    assert done.loss.item() == pytest.approx((main + 0.5 * beside) / 6, rel=1e-5)


def test_where_every_verified_label_is_right_dd_trusts_all_to_the_end() -> None:
    """Decisions are of a mentor's probabilities; that every label counts is no probability."""
    verdicts = Verdicts(torch.arange(10, 20), torch.ones(10).bool())
    method = make_method("mentornet-dd", steps=20)
    supervision = method.start(Task(count=20, classes=3, total_steps=100, verdicts=verdicts))
    losses, others = torch.rand(20, generator=torch.Generator().manual_seed(2)), torch.arange(20)
    evidence = Evidence(losses, others % 3, others % 3, others, wrong=losses + 5)
    for _ in range(100):
        weights = supervision.weights(evidence, 0.1)
    assert weights is not None
    assert weights.tolist() == [1.0] * 20


def test_others_is_a_weight() -> None:
    with pytest.raises(MentorNetError, match=r"others must be in \[0, 1\], got 2"):
        make_method("verified", others=2.0)


def test_one_label_a_sample() -> None:
    verdicts = Verdicts(torch.arange(12), torch.ones(12).bool(), torch.zeros(3).long())
    with pytest.raises(MentorNetError, match="one label a verified sample"):
        verdicts.check(20)
