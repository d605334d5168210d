from __future__ import annotations

import torch

from mentornet import enumerate_features
from mentornet.mentors.grid import DIFFERENCES, LOSSES


def test_the_grid_of_the_released_code() -> None:
    assert len(LOSSES) == 100 + 20
    assert LOSSES[0] == 0
    assert LOSSES[-1] == 29
    assert len(DIFFERENCES) == 100
    assert 0 in DIFFERENCES.tolist()  # exactly, not −1e-15


def test_the_current_step_lies_on_the_grid() -> None:
    features = enumerate_features(20_000, history=10)
    assert set(features.current_loss.unique().tolist()) == set(LOSSES.tolist())
    assert set(features.current_difference.unique().tolist()) == set(DIFFERENCES.tolist())
    assert features.validated(10) is features


def test_the_percentile_stays_put_over_the_history() -> None:
    features = enumerate_features(1000, history=10)
    level = features.loss - features.difference
    torch.testing.assert_close(level, level[:, -1:].expand_as(level), atol=1e-4, rtol=0)


def test_the_seed_fixes_it() -> None:
    first, again, other = (enumerate_features(100, history=3, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first.loss, again.loss)
    assert not torch.equal(first.loss, other.loss)
