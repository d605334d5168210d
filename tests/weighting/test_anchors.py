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


def by_hand(p: list[list[float]], label: list[int]) -> tuple[list[list[float]], list[list[float]]]:
    """The formulas in plain Python, r and T; `p` is balanced already."""
    classes = len(p[0])
    counts = []
    for k in range(classes):
        of_class = [i for i, row in enumerate(p) if row[k] == max(row)]
        of_class.sort(key=lambda i: -max(p[i]))
        chosen = of_class[: min(len(of_class), max(5, round(0.5 * len(of_class))))]
        counts.append([sum(label[i] == j for i in chosen) for j in range(classes)])
    number = [sum(row) for row in counts]
    rate = 1 - sum(counts[k][k] for k in range(classes)) / sum(number)
    rate = min(max(rate, 0.002), 0.95)
    matrix = []
    for k in range(classes):
        share = 0.3 + 0.7 * 2 * classes / (number[k] + 2 * classes)
        even = [1 - rate if j == k else rate / (classes - 1) for j in range(classes)]
        matrix.append(
            [
                max(0.02 / classes, (1 - share) * counts[k][j] / number[k] + share * even[j])
                for j in range(classes)
            ]
        )
    best: tuple[float, list[list[float]]] = (-math.inf, [])
    for exponent in EXPONENTS:
        likelihood, true = 0.0, []
        for row, y in zip(p, label, strict=True):
            total = sum(value**exponent for value in row)
            joint = [row[k] ** exponent / total * matrix[k][y] for k in range(classes)]
            likelihood += math.log(sum(joint))
            true.append([one / sum(joint) for one in joint])
        best = max(best, (likelihood, true))
    return best[1], matrix


@pytest.mark.parametrize(("classes", "wrong"), [(2, 0.3), (4, 0.5)])
def test_it_is_the_formula(classes: int, wrong: float) -> None:
    p, label, _ = some(120, classes, wrong=wrong)
    even = balanced(p.double().clamp(min=1e-4), label)
    true, matrix = by_hand(even.tolist(), label.tolist())
    found = anchored_posterior(p, label)
    assert torch.allclose(found.transition, torch.tensor(matrix).double(), atol=1e-6)
    assert torch.allclose(found.true, torch.tensor(true).double(), atol=1e-6)


def test_labels_that_are_confused_one_way_are_told_from_others() -> None:
    """Of class 1, 40 % have label 0: there 0 is doubtful, though few labels are wrong in all."""
    p, label, _ = some(4000, 10, wrong=0.0)
    true = torch.arange(4000) % 10
    wrong = (true == 1) & (torch.rand(4000, generator=torch.Generator().manual_seed(1)) < 0.4)
    found = anchored_posterior(p, torch.where(wrong, 0, label))
    assert found.transition[1, 0] == pytest.approx(0.3, abs=0.05)  # 0.7 · 0.4, and a little more
    assert found.noise_rate.item() == pytest.approx(0.04, abs=0.01)
    assert found.suggested[wrong].eq(1).float().mean() > 0.7


@pytest.mark.parametrize("wrong", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("classes", [2, 10, 100])
def test_it_finds_the_share_of_wrong_labels_and_the_labels(classes: int, wrong: float) -> None:
    p, label, correct = some(4000, classes, wrong=wrong)
    found = anchored_posterior(p, label)
    assert found.noise_rate.item() == pytest.approx(wrong, abs=0.05)
    assert found.right[correct].mean() > 0.85
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
