from __future__ import annotations

import re

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import Noise, corrupt, corrupt_samples, load_digits, noise_rate, parse_noise
from mentornet.data.noise.kinds import NOISES
from mentornet.data.noise.transitions import asymmetric, instance, pairflip, symmetric, uniform
from mentornet.randomness import generator

CIFAR10 = (
    "airplane", "automobile", "bird", "cat", "deer",
    "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip


@pytest.mark.parametrize("make", [uniform, symmetric, pairflip])
@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
def test_rows_are_probabilities(make: object, rate: float) -> None:
    transition = make(10, rate)  # type: ignore[operator]
    assert (transition >= -1e-12).all()
    torch.testing.assert_close(transition.sum(1), torch.ones(10, dtype=torch.float64))


def test_uniform_is_the_papers_replacement_by_any_class() -> None:
    """Each entry from the paper's words: keep with 1 − p, or draw one of all K."""
    for true in range(10):
        for given in range(10):
            expected = 0.4 / 10 + (0.6 if true == given else 0.0)
            assert uniform(10, 0.4)[true, given].item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "wrong"), [(uniform, 0.4 * 0.9), (symmetric, 0.4), (pairflip, 0.4)]
)
def test_the_rate_that_comes_out(make: object, wrong: float) -> None:
    true = torch.randint(10, (100_000,), generator=generator(0))
    given = corrupt(true, make(10, 0.4), seed=1)  # type: ignore[operator]
    assert noise_rate(given, true) == pytest.approx(wrong, abs=0.008)  # five standard errors


def test_the_empirical_transition_is_the_matrix() -> None:
    true = torch.randint(4, (200_000,), generator=generator(0))
    transition = torch.rand(4, 4, generator=generator(1), dtype=torch.float64)
    transition /= transition.sum(1, keepdim=True)
    given = corrupt(true, transition, seed=2)
    for i in range(4):
        seen = torch.bincount(given[true == i], minlength=4) / (true == i).sum()
        torch.testing.assert_close(seen.double(), transition[i], atol=0.012, rtol=0)


def test_asymmetric_is_cifar10s_usual_map() -> None:
    transition = asymmetric(CIFAR10, 0.4)
    confusions = {9: 1, 2: 0, 4: 7, 3: 5, 5: 3}
    for true in range(10):
        if true in confusions:
            assert transition[true, confusions[true]] == 0.4
            assert transition[true, true] == 0.6
        else:
            assert transition[true, true] == 1


def test_asymmetric_in_groups_takes_the_next_of_the_same_group() -> None:
    groups = torch.tensor([0, 1, 0, 1, 0])
    transition = asymmetric(("a", "b", "c", "d", "e"), 0.3, groups)
    for true, mistaken in {0: 2, 2: 4, 4: 0, 1: 3, 3: 1}.items():
        assert transition[true, mistaken] == pytest.approx(0.3)


def test_instance_noise_depends_on_the_image_and_has_the_rate() -> None:
    draw = generator(0)
    images = torch.randint(256, (20_000, 1, 4, 4), generator=draw, dtype=torch.uint8)
    true = torch.randint(5, (20_000,), generator=draw)
    given = instance(true, images, 5, 0.3, seed=0)
    assert noise_rate(given, true) == pytest.approx(0.3, abs=0.02)
    copies = images[:1].expand(2000, -1, -1, -1)
    same = instance(torch.zeros(2000, dtype=torch.long), copies, 5, 0.9, seed=0)
    counts = torch.bincount(same, minlength=5)[1:].double()
    assert counts.max() > 2 * counts.min()  # one image has its own favourite mistakes


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.4, 0.95, 1.0])
def test_instance_noise_has_its_rate_at_the_ends_too(rate: float) -> None:
    draw = generator(0)
    images = torch.randint(256, (20_000, 1, 4, 4), generator=draw, dtype=torch.uint8)
    true = torch.randint(5, (20_000,), generator=draw)
    found = noise_rate(instance(true, images, 5, rate, seed=0), true)
    assert found == pytest.approx(rate, abs=0.0 if rate in (0, 1) else 0.01)


@pytest.mark.parametrize("name", [name for name in NOISES if name != "asymmetric"])
def test_corrupt_samples_keeps_the_truth_and_follows_the_seed(name: str) -> None:
    clean = load_digits().train
    noisy, again, other = (
        corrupt_samples(clean, Noise(name, 0.5), seed=seed) for seed in (1, 1, 2)
    )
    assert noisy.true_label is not None
    assert torch.equal(noisy.true_label, clean.given_label)
    assert torch.equal(noisy.given_label, again.given_label)
    assert not torch.equal(noisy.given_label, other.given_label)
    assert noise_rate(noisy.given_label, noisy.true_label) > 0.3


def test_no_noise_is_no_change() -> None:
    clean = load_digits().train
    for name in ("uniform", "symmetric", "pairflip"):
        noisy = corrupt_samples(clean, Noise(name, 0.0), seed=0)
        assert torch.equal(noisy.given_label, clean.given_label)


MISTAKES = [
    (lambda: parse_noise("uniform:40"), "noise rate must be in [0, 1], got 40; did you mean 0.4?"),
    (lambda: parse_noise("uniform:-0.1"), "noise rate must be in [0, 1], got -0.1"),
    (lambda: parse_noise("uniform:nan"), "noise rate must be in [0, 1], got nan"),
    (lambda: parse_noise("unifrom:0.4"), "unknown noise 'unifrom'; did you mean 'uniform'?"),
    (lambda: parse_noise("uniform"), "noise must look like uniform:0.4, got 'uniform'"),
    (lambda: asymmetric(("a", "b"), 0.4), "asymmetric noise is known for cifar10 and cifar100"),
    (lambda: corrupt(torch.tensor([0]), torch.ones(2, 3), seed=0), "must be (K, K), got (2, 3)"),
    (lambda: corrupt(torch.tensor([0]), torch.ones(2, 2), seed=0), "sum to 1, got sums from 2"),
    (lambda: corrupt(torch.tensor([7]), torch.eye(2), seed=0), "labels must be in 0–1"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistake(call: object, message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()  # type: ignore[operator]


def test_many_classes_draw_as_in_the_slow_loop() -> None:
    """Class by class, with no row of chances for every sample."""
    label = torch.randint(50, (300,), generator=torch.Generator().manual_seed(0))
    transition = torch.rand(50, 50, generator=torch.Generator().manual_seed(1)).double()
    transition /= transition.sum(1, keepdim=True)
    draws = torch.rand(300, generator=generator(7), dtype=torch.float64).tolist()
    given = corrupt(label, transition, seed=7).tolist()
    for true, draw, found in zip(label.tolist(), draws, given, strict=True):
        cumulated = 0.0
        for expected in range(50):
            cumulated += transition[true, expected].item()
            if cumulated > draw:
                break
        assert found == expected
