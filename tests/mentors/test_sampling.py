from __future__ import annotations

import torch

from mentornet import make_mentor
from mentornet.mentors import sample_weights
from mentornet.randomness import generator
from tests.samples import some_features


def test_burn_in_drops_the_share_it_is_told_and_keeps_the_rest_in_full() -> None:
    draws = torch.rand(100_000, generator=generator(0))
    weight = sample_weights(torch.full((100_000,), 0.3), draws, drop_rate=0.2, burn_in=True)
    assert set(weight.unique().tolist()) == {0.0, 1.0}
    assert abs(weight.mean().item() - 0.8) < 0.005  # five standard errors are 0.0063


def test_after_burn_in_dropping_multiplies_the_mentors_weight() -> None:
    mentor, features = make_mentor("bilstm"), some_features(1000, history=1)
    draws = torch.rand(1000, generator=generator(0))
    weight, plain = mentor(features, draws, drop_rate=0.05), mentor(features)
    dropped = draws < 0.05
    assert (weight[dropped] == 0).all()
    assert torch.equal(weight[~dropped], plain[~dropped])


def test_no_dropping_is_no_change() -> None:
    mentor, features = make_mentor("bilstm"), some_features(50, history=1)
    draws = torch.rand(50, generator=generator(0))
    assert torch.equal(mentor(features, draws, drop_rate=0.0), mentor(features))
