"""Each weight against its formula, written out with plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from mentornet import CURRICULA, make_curriculum
from tests.samples import some_features


def clip(x: float) -> float:
    return min(max(0.0, x), 1.0)


def wavering(losses: list[float], epsilon: float) -> float:
    chances = [math.exp(-loss) for loss in losses]
    mean = sum(chances) / len(chances)
    variance = sum((chance - mean) ** 2 for chance in chances) / len(chances)
    count = len(chances) - 1
    deviation = math.sqrt(variance + variance**2 / count)
    return (deviation + epsilon) / (math.sqrt(0.25 + 0.25**2 / count) + epsilon)


# name, settings, v*(losses oldest first, difference now, epoch)
FORMULAS: list[tuple[str, dict[str, float], Callable[[list[float], float, int], float]]] = [
    ("uniform", {}, lambda h, d, e: 1.0),
    ("self-paced", {}, lambda h, d, e: float(d <= 0)),
    ("self-paced", {"lambda1": 0.3}, lambda h, d, e: float(d <= 0.3)),
    ("self-paced", {"lambda1": 2, "relative": False}, lambda h, d, e: float(h[-1] <= 2)),
    ("linear", {"lambda1": 1, "lambda2": 2}, lambda h, d, e: clip(1 - (h[-1] - 1) / 2)),
    ("linear", {"lambda1": 2, "lambda2": 0}, lambda h, d, e: float(h[-1] <= 2)),
    ("linear", {"lambda1": 0.5, "relative": True}, lambda h, d, e: clip(1 - (d - 0.5))),
    ("pd", {}, lambda h, d, e: clip(1 - d)),
    ("pd", {"lambda1": 1, "lambda2": 3}, lambda h, d, e: clip(1 - (d - 1) / 3)),
    ("focal", {}, lambda h, d, e: (1 - math.exp(-h[-1])) ** 2),
    ("focal", {"gamma": 0.5}, lambda h, d, e: (1 - math.exp(-h[-1])) ** 0.5),
    ("hard-negative-mining", {}, lambda h, d, e: float(d >= 0)),
    ("hard-negative-mining", {"lambda1": 2, "relative": False}, lambda h, d, e: float(h[-1] >= 2)),
    ("prediction-variance", {}, lambda h, d, e: wavering(h, 0.1)),
    ("prediction-variance", {"epsilon": 0}, lambda h, d, e: wavering(h, 0.0)),
    ("temporal-mixture", {}, lambda h, d, e: float(d <= 0) if e < 50 else float(d >= 0)),
    ("temporal-mixture", {"switch": 10}, lambda h, d, e: float(d <= 0 if e < 10 else d >= 0)),
    ("huber", {}, lambda h, d, e: 0.5 if h[-1] <= 1 else 1 / (2 * math.sqrt(h[-1]))),
    ("huber", {"lambda1": 2}, lambda h, d, e: 0.5 if h[-1] <= 4 else 1 / math.sqrt(h[-1])),
    ("log-sum", {"lambda1": 0.5, "epsilon": 2}, lambda h, d, e: 0.5 / (h[-1] + 2)),
    ("lorentzian", {"delta": 2}, lambda h, d, e: 2 * h[-1] / (8 + h[-1] ** 2)),
]


@pytest.mark.parametrize(("name", "settings", "formula"), FORMULAS)
def test_weight_is_its_formula(
    name: str, settings: dict[str, float], formula: Callable[[list[float], float, int], float]
) -> None:
    features = some_features(200, dtype=torch.float64)
    expected = [
        formula(history, differences[-1], epoch)
        for history, differences, epoch in zip(
            features.loss.tolist(),
            features.difference.tolist(),
            features.progress.tolist(),
            strict=True,
        )
    ]
    torch.testing.assert_close(
        make_curriculum(name, **settings)(features), torch.tensor(expected, dtype=torch.float64)
    )


def test_every_curriculum_has_a_formula_here() -> None:
    assert {name for name, *_ in FORMULAS} == set(CURRICULA)


def test_a_threshold_takes_the_sample_that_lies_on_it() -> None:
    """Eq. 2 and 7 say ℓ ≤ λ."""
    from mentornet import MentorFeatures

    on_it = MentorFeatures.from_loss(torch.tensor([2.0]), loss_level=2.0)
    for name in ("self-paced", "hard-negative-mining", "pd"):
        assert make_curriculum(name)(on_it).item() == 1
    assert make_curriculum("linear", lambda1=2, lambda2=0)(on_it).item() == 1
