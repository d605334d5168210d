"""Losses of any kind: their common scale, and the outliers that are seen on it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mentornet import MentorLoss
from mentornet.randomness import generator
from mentornet.weighting.loss_scale import LossScale

LOSSES = {
    "squared": lambda r: r**2,
    "absolute": lambda r: r.abs(),
    "far below 0": lambda r: r**2 - 50.0,
    "in grams": lambda r: (1000 * r) ** 2,
}


def residuals(wrong: float, count: int = 2000) -> tuple[Tensor, Tensor]:
    """Normal residuals, some of them 20 times as wide."""
    draw = generator(0)
    is_wrong = torch.rand(count, generator=draw) < wrong
    normal = torch.randn(count, generator=draw)
    return torch.where(is_wrong, 20 * normal, normal), is_wrong


@pytest.mark.parametrize("name", LOSSES)
def test_x_is_the_residual_in_units_of_the_median_absolute_deviation(name: str) -> None:
    r, _ = residuals(0.0)
    found = LossScale()(LOSSES[name](r)).expm1()
    torch.testing.assert_close(found, r.abs() / r.abs().median(), rtol=0.15, atol=0.05)


def test_it_follows_falling_losses_and_ignores_nan() -> None:
    scale = LossScale()
    r, _ = residuals(0.0)
    for step in range(200):
        losses = r.abs() * math.exp(-step / 50)
        losses[step] = math.nan
        found = scale(losses)
    assert found.isnan().sum() == 1
    assert found.nanmedian().item() == pytest.approx(math.log(2), abs=0.2)


def test_the_margin_is_0_at_four_times_the_usual_residual() -> None:
    scale, (r, _) = LossScale(), residuals(0.0, 100_000)
    scale(r**2)
    mad = r.abs().median()
    margins = scale.margins((torch.tensor([1.0, 4.0, 16.0, 0.001]) * mad) ** 2)
    expected = [2 * math.log(4), 0.0, -2 * math.log(4), 4.0]
    assert margins.tolist() == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_gross_outliers_are_seen(name: str, wrong: float) -> None:
    """Before, the first batch of such losses set the unit, and the estimate was 0 % to 2 %."""
    criterion = MentorLoss(total_steps=40, samples=2000)
    r, is_wrong = residuals(wrong)
    for step in range(40):
        part = torch.arange(2000).view(4, 500)[step % 4]
        criterion(losses=LOSSES[name](r[part]).requires_grad_(), index=part)
    estimate = criterion.noise_estimate()
    assert estimate.low <= wrong <= estimate.high < wrong + 0.1
    assert "outliers" in estimate.assumes
    if wrong:
        gross = is_wrong & (r.abs() > 16)
        at = torch.arange(1500, 2000)
        assert criterion.weights[gross[at]].max() == 0
        assert criterion.weights[~is_wrong[at]].mean() > 0.95
        suspects = torch.tensor(criterion.audit().is_issue)
        assert suspects[gross].all()
        assert not suspects[~is_wrong].float().mean() > 0.02
