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


def mixed(bits: int) -> int:
    """Two rounds of xor and multiply, in whole numbers of any size."""
    for _ in range(2):
        product = (bits ^ (bits >> 16)) * 0x45D9F3B
        assert product < 2**63, "overflow: compiled code may do anything then"
        bits = product % 2**32
    return bits ^ (bits >> 16)


def test_hashed_draws_against_whole_numbers() -> None:
    ids = [0, 1, 2, 65_535, 2**32 - 1, 2**40 + 7]
    for seed, step in ((0, 0), (7, 123), (2**62, 10**9), (2**63 - 1, 2**33)):
        draws = hashed_uniform(seed, torch.tensor(step), torch.tensor(ids))
        folded = (seed ^ ((seed >> 32) * 0x9E3779B1)) + 0x9E3779B9
        start = mixed((mixed(step % 2**32) + folded) % 2**32)
        expected = [(mixed((mixed(i % 2**32) + start) % 2**32) >> 8) / 2**24 for i in ids]
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
