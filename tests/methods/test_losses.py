"""Each loss against its paper's formula, in plain loops."""

from __future__ import annotations

import math
import re

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mentornet import MentorNetError
from mentornet.methods import NoiseLayer, reed_hard, reed_soft
from mentornet.randomness import generator

LOGITS = torch.randn(20, 5, generator=generator(0), dtype=torch.float64) * 3
LABELS = torch.randint(5, (20,), generator=generator(1))


def softmax(row: list[float]) -> list[float]:
    total = sum(math.exp(value) for value in row)
    return [math.exp(value) / total for value in row]


@pytest.mark.parametrize("beta", [0.7, 0.95, 1.0])
def test_reed_by_hand(beta: float) -> None:
    soft, hard = reed_soft(LOGITS, LABELS, beta=beta), reed_hard(LOGITS, LABELS, beta=beta)
    for i, (row, label) in enumerate(zip(LOGITS.tolist(), LABELS.tolist(), strict=True)):
        q = softmax(row)
        own = sum(chance * math.log(chance) for chance in q)
        trusted = beta * math.log(q[label])
        assert soft[i].item() == pytest.approx(-(trusted + (1 - beta) * own))
        largest = max(math.log(chance) for chance in q)
        assert hard[i].item() == pytest.approx(-(trusted + (1 - beta) * largest))


def test_reed_with_beta_1_is_cross_entropy() -> None:
    plain = F.cross_entropy(LOGITS, LABELS, reduction="none")
    torch.testing.assert_close(reed_soft(LOGITS, LABELS, beta=1.0), plain)
    torch.testing.assert_close(reed_hard(LOGITS, LABELS, beta=1.0), plain)


def test_the_noise_layer_by_hand() -> None:
    layer = NoiseLayer(5, rate=0.3).double()
    log_given = layer(LOGITS)
    theta = [[0.7 if i == j else 0.3 / 4 for j in range(5)] for i in range(5)]
    for b, row in enumerate(LOGITS.tolist()):
        q = softmax(row)
        for j in range(5):
            expected = sum(theta[i][j] * q[i] for i in range(5))
            assert log_given[b, j].item() == pytest.approx(math.log(expected), rel=1e-6)
    torch.testing.assert_close(log_given.exp().sum(1), torch.ones(20, dtype=torch.float64))


def test_the_noise_layer_learns_how_classes_are_mistaken() -> None:
    """A student that knows the truth, and labels of which class 0 is given as 1 four in ten."""
    draw = generator(2)
    true = torch.randint(3, (3000,), generator=draw)
    given = torch.where((true == 0) & (torch.rand(3000, generator=draw) < 0.4), 1, true)
    layer = NoiseLayer(3)
    logits = 20.0 * F.one_hot(true, 3).float()
    adam = torch.optim.Adam(layer.parameters(), lr=0.05)
    for _ in range(300):
        adam.zero_grad()
        F.nll_loss(layer(logits), given).backward()
        adam.step()
    learned = layer.scores.detach().softmax(1)
    assert learned[0, 1].item() == pytest.approx(0.4, abs=0.04)
    assert learned[1, 1].item() > 0.98


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reed_soft(LOGITS, LABELS, beta=95), "beta must be in [0, 1], got 95"),
        (lambda: NoiseLayer(3, rate=0.0), "must be in (0, 1), got 0"),
    ],
)
def test_mistake(call: object, message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()  # type: ignore[operator]
