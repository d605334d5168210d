"""The posterior by anchors, derived again sample by sample."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mentornet.weighting import anchored_posterior, balanced

EXPONENTS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


def some(count: int, classes: int, *, wrong: float, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Predictions that are right of most samples, given labels, and which of them are correct."""
    draw = torch.Generator().manual_seed(seed)
    true = torch.arange(count) % classes
    logits = 3 * torch.nn.functional.one_hot(true, classes)
    p = (logits + torch.randn(count, classes, generator=draw)).softmax(1)
    other = (true + torch.randint(1, classes, (count,), generator=draw)) % classes
    correct = torch.rand(count, generator=draw) >= wrong
    return p, torch.where(correct, true, other), correct


def by_hand(p: list[list[float]], label: list[int]) -> list[float]:
    """The formula in plain Python; `p` is balanced already."""
    classes, against, anchors = len(p[0]), 0, 0
    for k in range(classes):
        of_class = [i for i, row in enumerate(p) if row[k] == max(row)]
        of_class.sort(key=lambda i: -max(p[i]))
        chosen = of_class[: min(len(of_class), max(5, round(0.25 * len(of_class))))]
        against += sum(label[i] != k for i in chosen)
        anchors += len(chosen)
    rate = min(max(against / anchors, 0.002), 0.95)
    best: tuple[float, list[float]] = (-math.inf, [])
    for exponent in EXPONENTS:
        likelihood, right = 0.0, []
        for row, y in zip(p, label, strict=True):
            q = row[y] ** exponent / sum(value**exponent for value in row)
            correct, wrong = q * (1 - rate), (1 - q) * rate / (classes - 1)
            likelihood += math.log(correct + wrong)
            right.append(correct / (correct + wrong))
        best = max(best, (likelihood, right))
    return best[1]


@pytest.mark.parametrize(("classes", "wrong"), [(2, 0.3), (4, 0.5)])
def test_it_is_the_formula(classes: int, wrong: float) -> None:
    p, label, _ = some(120, classes, wrong=wrong)
    even = balanced(p.double().clamp(min=1e-4), label)
    expected = torch.tensor(by_hand(even.tolist(), label.tolist()), dtype=torch.float64)
    assert torch.allclose(anchored_posterior(p, label).right, expected, atol=1e-9)


@pytest.mark.parametrize("wrong", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("classes", [2, 10, 100])
def test_it_finds_the_share_of_wrong_labels_and_the_labels(classes: int, wrong: float) -> None:
    p, label, correct = some(4000, classes, wrong=wrong)
    found = anchored_posterior(p, label)
    assert found.noise_rate.item() == pytest.approx(wrong, abs=0.05)
    assert found.right[correct].mean() > 0.9
    if wrong:
        assert found.right[~correct].mean() < 0.2


def test_balanced_predictions_have_about_the_shares_of_the_labels() -> None:
    p, label, _ = some(600, 3, wrong=0.2)
    p = p * torch.tensor([1.0, 0.3, 1.0])  # the student hardly ever says the second class
    p = p / p.sum(1, keepdim=True)
    wanted = torch.bincount(label) / 600
    assert (p.mean(0) - wanted).abs().max() > 0.03
    assert (balanced(p, label).mean(0) - wanted).abs().max() < 0.01  # after five rounds


@pytest.mark.parametrize("label", [[0, 0, 0], [0, 1, 1]])
def test_few_samples_and_classes_without_any(label: list[int]) -> None:
    p = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]])
    right = anchored_posterior(p, torch.tensor(label)).right
    assert right.isfinite().all()
    assert ((right >= 0) & (right <= 1)).all()
