"""The parts of the noise estimate and of "auto", each against its formula by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mentornet.randomness import generator
from mentornet.weighting.levels import ClassLossLevel
from mentornet.weighting.loss_histogram import BINS, LossHistogram, edges
from mentornet.weighting.noise_rate import AutoPercentile, NoiseRate
from mentornet.weighting.two_bells import TwoBells

NAN = float("nan")


def test_the_histogram_counts_and_fades() -> None:
    histogram = LossHistogram(rows=2, decay=0.5)
    ends = edges().tolist()
    first, second = [0.0005, 0.5, NAN, 100.0], [0.5, 0.5]
    histogram.update(torch.tensor(first), torch.tensor([0, 0, 1, 1]))
    histogram.update(torch.tensor(second), torch.tensor([0, 1]))
    expected = np.zeros((2, BINS))
    for losses, rows, weight in ((first, (0, 0, 1, 1), 0.5), (second, (0, 1), 1.0)):
        for loss, row in zip(losses, rows, strict=True):
            if loss == loss:  # not NaN
                expected[row, sum(end < loss for end in ends)] += weight
    assert np.allclose(histogram.counts.numpy(), expected)
    assert histogram.shares().sum(1).tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("percentile", [0.25, 0.75, 0.9])
def test_the_percentile_of_a_class_is_that_of_its_losses(percentile: float) -> None:
    losses = torch.rand(2000, generator=generator(0)) * torch.tensor([1.0, 5.0]).repeat(1000)
    label = torch.tensor([0, 1]).repeat(1000)
    level = ClassLossLevel(2, percentile, shrinkage=0.0)
    found = level.update(losses, label)[:2].tolist()
    expected = [np.quantile(losses[label == k].numpy(), percentile) for k in (0, 1)]
    assert found == pytest.approx(expected, rel=0.1)  # bins are a sixth wide


def test_a_class_that_was_hardly_seen_has_the_percentile_of_all() -> None:
    losses = torch.cat([torch.rand(999, generator=generator(0)), torch.tensor([9.0])])
    label = (torch.arange(1000) == 999).long()
    level = ClassLossLevel(2, 0.75, shrinkage=20.0)
    assert level.update(losses, label)[-1].item() == pytest.approx(0.75, rel=0.15)


def test_two_bells_are_told_apart_and_one_is_not() -> None:
    draw, bells = generator(0), TwoBells(edges())
    histogram = LossHistogram()
    right = torch.randn(7000, generator=draw) / 3 + 1
    wrong = torch.randn(3000, generator=draw) / 2 + 5
    histogram.update(torch.cat([right, wrong]).clamp(min=0))
    for _ in range(30):
        rate = bells.update(histogram.shares()[0])
    assert rate.item() == pytest.approx(0.3, abs=0.01)
    share, mean, spread = bells.parameters_.tolist()
    assert mean == pytest.approx([1.0, 5.0], abs=0.1)
    assert spread == pytest.approx([1 / 3, 1 / 2], abs=0.15)
    assert sum(share) == pytest.approx(1.0)
    one, single = TwoBells(edges()), LossHistogram()
    single.update(torch.randn(9000, generator=draw).abs() + 1)
    for _ in range(30):
        rate = one.update(single.shares()[0])
    assert rate.item() == 0.0


def test_the_rate_is_the_ratio_of_the_tails() -> None:
    """Right labels lose 0 to 1, wrong ones 2 to 4, and so do classes that are not predicted."""
    draw, noise = generator(0), NoiseRate(total_steps=10)
    given = torch.where(torch.rand(5000, generator=draw) < 0.3, 2.0, 0.0)
    given = given + torch.rand(5000, generator=draw) * torch.where(given > 0, 2.0, 1.0)
    wrong = 2 + 2 * torch.rand(5000, generator=draw)
    noise.update(given, wrong, torch.tensor(9))
    beyond = {share: torch.quantile(wrong, 1 - share) for share in (0.9, 0.75, 0.5)}
    rates = (noise.rate, noise.cautious, noise.sure)
    for found, (share, level) in zip(rates, beyond.items(), strict=True):
        expected = (given > level).float().mean().item() / share
        assert found.item() == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("rate", "sure", "percentile"),
    [
        (0.0, 0.0, 1.0), (0.1, 0.03, 1 - 0.12 / 4), (0.1, 0.06, 0.88), (0.4, 0.3, 0.52),
        (0.9, 0.7, 0.05), (0.8, 0.75, 1 - 0.48), (1.0, 1.0, 1.0),
    ],
)  # fmt: skip
def test_the_percentile_of_auto(rate: float, sure: float, percentile: float) -> None:
    auto = AutoPercentile()
    rates = torch.tensor([1.0, rate, sure])  # the first, which counts most labels, is not asked
    assert auto(rates, torch.tensor(True)).item() == pytest.approx(percentile)
    assert auto(rates, torch.tensor(False)) == 1.0


def test_a_loss_of_any_scale_is_measured_by_its_first_batch() -> None:
    auto = AutoPercentile()
    assert auto.measured(torch.tensor([10.0, 30.0, NAN])).nan_to_num(-1).tolist() == [1.0, 3.0, -1]
    assert auto.measured(torch.tensor([5.0])).tolist() == [0.5]
