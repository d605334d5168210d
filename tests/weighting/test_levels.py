from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from mentornet import MentorNetError
from mentornet.randomness import generator
from mentornet.weighting import LossLevel


def test_moving_average_of_the_percentile_by_hand() -> None:
    level, expected = LossLevel(percentile=0.75, decay=0.95), None
    for seed in range(10):
        losses = torch.rand(128, generator=generator(seed)) * 5
        percentile = float(np.percentile(losses.numpy(), 75))
        expected = percentile if expected is None else 0.95 * expected + 0.05 * percentile
        assert level.update(losses).item() == pytest.approx(expected, rel=1e-5)


def test_goes_on_where_it_was() -> None:
    level, restored = LossLevel(), LossLevel()
    level.update(torch.tensor([1.0, 2.0]))
    restored.load_state_dict(level.state_dict())
    later = torch.tensor([5.0, 7.0])
    assert torch.equal(level.update(later), restored.update(later))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"percentile": 75}, "percentile must be in [0, 1], got 75; did you mean 0.75?"),
        ({"percentile": -0.1}, "percentile must be in [0, 1], got -0.1"),
        ({"decay": 1.0}, "decay must be in [0, 1), got 1"),
    ],
)
def test_mistake(settings: dict[str, float], message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        LossLevel(**settings)
