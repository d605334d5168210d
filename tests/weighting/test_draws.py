"""The draws by hashing: uniform, independent of one another, the same everywhere."""

from __future__ import annotations

import torch
from mentornet.weighting.draws import hashed_uniform

from mentornet import make_curriculum, make_mentor
from mentornet.randomness import generator
from mentornet.weighting import Spade, SpadeConfig

MANY = torch.arange(200_000)


def splitmix(state: int) -> int:
    """SplitMix64's finaliser in whole numbers without sign."""
    wrap = 2**64 - 1
    state &= wrap
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & wrap
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & wrap
    return state ^ (state >> 31)


def test_against_whole_numbers() -> None:
    golden = 0x9E3779B97F4A7C15
    for seed, step in ((0, 0), (7, 123), (2**62, 10**9)):
        draws = hashed_uniform(seed, torch.tensor(step), torch.arange(5))
        start = splitmix(seed + step * golden)
        expected = [(splitmix(start + i * golden) >> 40) / 2**24 for i in range(5)]
        assert draws.tolist() == expected


def test_uniform() -> None:
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


def test_the_step_compiles_without_a_graph_break() -> None:
    """Burn-in, percentile, history and mentor, in one graph, with the state moving as it should."""

    def made() -> Spade:
        mentor = make_mentor("bilstm", history=2).eval().requires_grad_(False)
        return Spade(mentor, total_steps=8, count=32, config=SpadeConfig(burn_in=0.5))

    plain, compiled = made(), made()
    weigh = torch.compile(compiled.weigh, fullgraph=True, backend="aot_eager")
    label, index = torch.zeros(16, dtype=torch.long), torch.arange(16)
    for step in range(8):
        losses = torch.rand(16, generator=generator(step))
        assert torch.allclose(weigh(losses, label, index), plain.weigh(losses, label, index))
    assert int(compiled.step) == 8
    assert torch.equal(compiled.level.value, plain.level.value)


def test_the_mentor_follows_spade_to_a_device() -> None:
    mentor = make_mentor("bilstm")
    spade = Spade(mentor, total_steps=1).to("meta")
    assert {part.device.type for part in (*spade.buffers(), *mentor.parameters())} == {"meta"}


def test_the_rule_is_no_part_of_the_state() -> None:
    spade = Spade(make_mentor("bilstm"), total_steps=1)
    spade.use(make_curriculum("pd"))
    assert set(spade.state_dict()) == {"step", "level.value"}
