"""The posterior of the true class: Bayes' rule in loops, known noise found again, bad input."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mentornet import MentorNetError
from mentornet.randomness import generator
from mentornet.weighting import confident_start, label_posterior
from mentornet.weighting.posterior import transition_of


def noisy(
    count: int, transition: Tensor, sure: float = 6.0, seed: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Return calibrated predictions, given labels and true classes."""
    draw, classes = generator(seed), len(transition)
    p = (sure * torch.rand(count, classes, generator=draw).double()).softmax(1)
    true = torch.multinomial(p, 1, generator=draw)[:, 0]
    given = torch.multinomial(transition[true], 1, generator=draw)[:, 0]
    return p, given, true


def test_bayes_rule_in_loops() -> None:
    p, given, _ = noisy(40, torch.eye(3).double() * 0.7 + 0.1)
    found = label_posterior(p, given)
    tempered = p**found.exponent
    for row in range(40):
        joint = [tempered[row, k] * found.transition[k, given[row]] for k in range(3)]
        total = sum(joint)
        for k in range(3):
            assert found.true[row, k] == pytest.approx((joint[k] / total).item(), abs=1e-6)
        assert found.right[row] == found.true[row, given[row]]


def test_the_matrix_is_that_of_the_expected_counts() -> None:
    p, given, _ = noisy(30, torch.eye(3).double() * 0.7 + 0.1)
    expected = torch.zeros(3, 3).double()
    for row in range(30):
        for k in range(3):
            expected[k, given[row]] += p[row, k]
    for k in range(3):
        for j in range(3):
            expected[k, j] += 2 * (0.8 * (k == j) + 0.2 / 3)
        expected[k] /= expected[k].sum()
    assert torch.allclose(transition_of(p, given), expected)


@pytest.mark.parametrize(
    "transition",
    [
        torch.eye(4) * 0.6 + 0.1,  # uniform
        torch.eye(4) * 0.7 + torch.eye(4).roll(1, 1) * 0.3,  # each class into the next
        torch.eye(4),  # all correct
    ],
)
def test_known_noise_is_found_again(transition: Tensor) -> None:
    p, given, true = noisy(4000, transition.double(), sure=12.0)
    found = label_posterior(p, given)
    assert (found.transition - transition).abs().max() < 0.06
    wrong = (given != true).double()
    assert float((1 - found.right).mean()) == pytest.approx(float(wrong.mean()), abs=0.04)
    for low, high in ((0.0, 0.3), (0.7, 1.01)):  # what it says is what comes out
        told = (found.right >= low) & (found.right < high)
        if told.sum() > 100:
            right = float(1 - wrong[told].mean())
            assert float(found.right[told].mean()) == pytest.approx(right, abs=0.1)


def test_too_careful_predictions_are_sharpened() -> None:
    p, given, _ = noisy(3000, torch.eye(4).double() * 0.6 + 0.1, sure=12.0)
    careful = p**0.5 / (p**0.5).sum(1, keepdim=True)
    assert label_posterior(careful, given).exponent == 2 * label_posterior(p, given).exponent


def test_a_verdict_counts_for_the_matrix_and_not_for_its_own_sample() -> None:
    p, given, true = noisy(200, torch.eye(2).double() * 0.4 + 0.3, sure=1.0)
    first = torch.tensor([[0.6, 0.4], [0.4, 0.6]]).double()
    alone = label_posterior(p, given, transition=first)
    told = label_posterior(p, given, transition=first, known=true)
    counts = torch.eye(2).double()[true]
    assert torch.allclose(told.transition, transition_of(counts, given))
    assert not torch.allclose(told.transition, alone.transition)
    assert ((told.true > 0) & (told.true < 1)).all()


def test_the_start_asks_for_each_class_what_it_reaches_itself() -> None:
    p = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.45, 0.55], [0.85, 0.15]])
    given = torch.tensor([0, 0, 1, 1, 1])
    # The means are 0.8 for class 0 and 0.5 for class 1; only the last label contradicts a class
    # that reaches its mean.
    _, weight = confident_start(p, given)
    assert weight.tolist() == pytest.approx([1, 1, 1, 1, 0])


@pytest.mark.parametrize(
    ("p", "given", "message"),
    [
        (torch.rand(3), torch.tensor([0, 1, 0]), r"probabilities must have shape \(N, K\)"),
        (torch.rand(0, 2), torch.zeros(0).long(), r"N ≥ 1 and K ≥ 2"),
        (torch.rand(3, 1), torch.tensor([0, 0, 0]), r"N ≥ 1 and K ≥ 2"),
        (torch.rand(3, 2), torch.tensor([0, 1]), r"given_label must be 3 class numbers"),
        (torch.rand(3, 2), torch.rand(3), r"3 class numbers, got shape \(3,\) of torch.float32"),
        (torch.rand(3, 2), torch.tensor([0, 2, 0]), r"given_label must be in 0–1, got 2"),
        (torch.rand(3, 2), torch.tensor([0, -1, 0]), r"given_label must be in 0–1, got -1"),
        (torch.full((3, 2), torch.nan), torch.tensor([0, 1, 0]), r"must be finite, ≥ 0"),
        (torch.zeros(3, 2), torch.tensor([0, 1, 0]), r"not all 0 in a row"),
        (torch.rand(3, 2) - 2, torch.tensor([0, 1, 0]), r"must be finite, ≥ 0"),
    ],
)
def test_bad_input(p: Tensor, given: Tensor, message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        label_posterior(p, given)
