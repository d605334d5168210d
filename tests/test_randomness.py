from __future__ import annotations

import pytest
import torch

from mentornet import Mentor
from mentornet.randomness import generator, hashed_uniform, seeded

MANY = torch.arange(200_000)


def test_streams_differ_and_repeat() -> None:
    draws = [torch.rand(4, generator=generator(*key)).tolist() for key in ((0,), (0, 1), (1, 0))]
    assert draws[0] != draws[1] != draws[2] != draws[0]
    assert torch.rand(4, generator=generator(0, 1)).tolist() == draws[1]


def test_accelerators_are_never_reseeded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(seed: int) -> None:
        raise AssertionError("a user's GPU was reseeded")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", refuse)
    with seeded(3):
        first = torch.rand(3)
    with seeded(3):
        assert torch.equal(torch.rand(3), first)
    Mentor.from_pretrained("pd")


def splitmix(state: int) -> int:
    """SplitMix64's finaliser in whole numbers without sign."""
    wrap = 2**64 - 1
    state &= wrap
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & wrap
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & wrap
    return state ^ (state >> 31)


def test_hashed_draws_against_whole_numbers() -> None:
    golden = 0x9E3779B97F4A7C15
    for seed, step in ((0, 0), (7, 123), (2**62, 10**9)):
        draws = hashed_uniform(seed, torch.tensor(step), torch.arange(5))
        start = splitmix(seed + step * golden)
        expected = [(splitmix(start + i * golden) >> 40) / 2**24 for i in range(5)]
        assert draws.tolist() == expected


def test_hashed_draws_are_uniform() -> None:
    """Ten bins of equal count, to five standard errors, at several seeds and steps."""
    for seed, step in ((0, 0), (0, 1), (1, 0), (5, 10_000)):
        draws = hashed_uniform(seed, torch.tensor(step), MANY)
        assert 0 <= draws.min() <= draws.max() < 1
        counts = torch.histc(draws, 10, 0, 1)
        assert (counts - 20_000).abs().max() < 5 * (20_000 * 0.9) ** 0.5


def test_steps_seeds_and_neighbours_are_uncorrelated() -> None:
    base = hashed_uniform(0, torch.tensor(0), MANY)
    others = (
        hashed_uniform(0, torch.tensor(1), MANY),
        hashed_uniform(1, torch.tensor(0), MANY),
        base.roll(1),
    )
    for other in others:
        correlation = torch.corrcoef(torch.stack([base, other]))[0, 1]
        assert correlation.abs() < 5 / len(MANY) ** 0.5


def test_a_sample_draws_the_same_wherever_it_is_in_the_batch() -> None:
    order = torch.randperm(100, generator=generator(0))
    draws = hashed_uniform(3, torch.tensor(4), torch.arange(100))
    assert torch.equal(draws[order], hashed_uniform(3, torch.tensor(4), order))
