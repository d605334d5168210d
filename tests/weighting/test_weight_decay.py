"""θ_t = θ₀ · mean(v), for optimisers of every kind."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mentornet import MentorLoss, MentorNetError, scale_weight_decay
from mentornet.randomness import generator
from mentornet.weighting import add_weight_decay

OPTIMISERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.1},
    "AdamW": {"lr": 0.1},
    "RMSprop": {"lr": 0.1},
    "Adagrad": {"lr": 0.1},
    "NAdam": {"lr": 0.1, "decoupled_weight_decay": True},
    "RAdam": {"lr": 0.1},
    "Adadelta": {"lr": 0.1},
    "Adamax": {"lr": 0.1},
}


class Homemade(torch.optim.SGD):
    """One that we know nothing of."""


def optimiser(name: str, weight: torch.nn.Parameter, decay: float) -> torch.optim.Optimizer:
    if name == "Homemade":
        return Homemade([weight], lr=0.1, weight_decay=decay)
    made: torch.optim.Optimizer = getattr(torch.optim, name)(
        [weight], weight_decay=decay, **OPTIMISERS[name]
    )
    return made


def start() -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.randn(5, generator=generator(0)))


@pytest.mark.parametrize("name", [*OPTIMISERS, "Homemade"])
def test_as_if_the_decay_had_been_set_by_hand(name: str) -> None:
    ours, theirs = start(), start()
    followed, by_hand = optimiser(name, ours, 0.1), optimiser(name, theirs, 0.1)
    criterion = MentorLoss("pd", 20, 0.0)
    scale_weight_decay(followed, criterion)
    for step in range(5):
        losses = torch.rand(16, generator=generator(step)) * 4
        mean = criterion.weigh(losses).mean().item()
        assert 0.2 < mean < 0.95
        for group in by_hand.param_groups:
            group["weight_decay"] = 0.1 * mean
        for weight, used in ((ours, followed), (theirs, by_hand)):
            weight.grad = torch.sin(weight.detach() + step)
            used.step()
        torch.testing.assert_close(ours, theirs)
        assert followed.param_groups[0]["weight_decay"] == 0.1


def test_all_micro_batches_of_a_step_count() -> None:
    weight = start()
    sgd = torch.optim.SGD([weight], lr=1.0, weight_decay=0.1)
    criterion = MentorLoss("pd", 20, 0.0)
    following = scale_weight_decay(sgd, criterion)
    means = [criterion.weigh(torch.rand(16, generator=generator(k)) * 4).mean() for k in (0, 1)]
    before = weight.detach().clone()
    weight.grad = torch.zeros(5)
    sgd.step()
    torch.testing.assert_close(weight.detach(), before * (1 - 0.1 * (means[0] + means[1]) / 2))
    sgd.step()  # nothing was weighed since: the whole decay
    following.remove()
    criterion.weigh(torch.tensor([0.1, 9.0, 9.0]))
    now = weight.detach().clone()
    weight.grad = torch.zeros(5)
    sgd.step()
    torch.testing.assert_close(weight.detach(), now * 0.9)


@pytest.mark.parametrize("named", [False, True])
def test_with_a_closure_it_waits_for_the_gradient(named: bool) -> None:
    """As Lightning steps: forward and backward happen inside of `step`."""
    ours, theirs = start(), start()
    followed = torch.optim.SGD([ours], lr=0.1, weight_decay=0.1)
    by_hand = torch.optim.SGD([theirs], lr=0.1, weight_decay=0.1)
    criterion = MentorLoss("pd", 20, 0.0)
    scale_weight_decay(followed, criterion)
    means: list[torch.Tensor] = []

    def closure() -> float:
        means.append(criterion.weigh(torch.rand(16, generator=generator(len(means))) * 4).mean())
        ours.grad = torch.sin(ours.detach())
        return 1.5

    for _ in range(3):
        loss = followed.step(closure=closure) if named else followed.step(closure)
        assert loss == 1.5
        by_hand.param_groups[0]["weight_decay"] = 0.1 * means[-1].item()
        theirs.grad = torch.sin(theirs.detach())
        by_hand.step()
        torch.testing.assert_close(ours, theirs)


def test_for_sgd_it_is_what_the_trainer_adds() -> None:
    ours, theirs = start(), start()
    sgd = torch.optim.SGD([ours], lr=0.1, weight_decay=0.1)
    plain = torch.optim.SGD([theirs], lr=0.1)
    criterion = MentorLoss("pd", 20, 0.0)
    scale_weight_decay(sgd, criterion)
    for step in range(5):
        weights = criterion.weigh(torch.rand(16, generator=generator(step)) * 4)
        ours.grad, theirs.grad = torch.ones(5), torch.ones(5)
        add_weight_decay([theirs], 0.1, weights)
        sgd.step()
        plain.step()
        assert torch.equal(ours, theirs)


def test_what_cannot_be_scaled() -> None:
    criterion = MentorLoss("pd", 20)
    with pytest.raises(MentorNetError, match="takes a torch optimizer, got Linear"):
        scale_weight_decay(torch.nn.Linear(1, 1, device="meta"), criterion)  # type: ignore[arg-type]
    with pytest.raises(MentorNetError, match="Rprop has no weight_decay"):
        scale_weight_decay(torch.optim.Rprop([start()]), criterion)


def test_two_optimisers_see_the_same_mean() -> None:
    weights = [start(), start()]
    optimisers = [torch.optim.SGD([weight], lr=1.0, weight_decay=0.1) for weight in weights]
    criterion = MentorLoss("pd", 20, 0.0)
    for optimiser in optimisers:
        scale_weight_decay(optimiser, criterion)
    for step in range(3):
        criterion.weigh(torch.rand(16, generator=generator(step)) * 4)
        for weight, optimiser in zip(weights, optimisers, strict=True):
            weight.grad = torch.zeros(5)
            optimiser.step()
        assert torch.equal(*weights)


def test_a_step_that_fails_does_not_lose_the_rate() -> None:
    weight = start()
    sgd = torch.optim.SGD([weight], lr=0.1, weight_decay=0.1)
    criterion = MentorLoss("pd", 20, 0.0)
    scale_weight_decay(sgd, criterion)

    def closure() -> float:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        sgd.step(closure)
    weight.grad = torch.zeros(5)
    sgd.step()
    assert sgd.param_groups[0]["weight_decay"] == 0.1


def test_a_closure_that_is_called_twice_does_not_wear_the_rate_down() -> None:
    class Twice(torch.optim.SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            closure()
            super().step(closure)

    weight = start()
    sgd = Twice([weight], lr=0.1, weight_decay=0.1)
    criterion = MentorLoss("pd", 20, 0.0)
    scale_weight_decay(sgd, criterion)

    def closure() -> float:
        criterion.weigh(torch.tensor([0.1, 9.0, 9.0]))
        weight.grad = torch.zeros(5)
        return 0.0

    for _ in range(4):
        sgd.step(closure)
        assert sgd.param_groups[0]["weight_decay"] == 0.1


def test_attached_once_only() -> None:
    sgd, criterion = torch.optim.SGD([start()], lr=0.1, weight_decay=0.1), MentorLoss("pd", 20)
    following = scale_weight_decay(sgd, criterion)
    with pytest.raises(MentorNetError, match="is scaled already"):
        scale_weight_decay(sgd, criterion)
    following.remove()
    scale_weight_decay(sgd, criterion)


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_a_fused_optimiser_that_unscales_gradients_in_its_step(name: str) -> None:
    """As `GradScaler` uses it: gradients 1024 times too large, or no step at all."""
    ours, theirs = start(), start()
    made = [
        getattr(torch.optim, name)([w], lr=0.1, weight_decay=0.1, fused=True)
        for w in (ours, theirs)
    ]
    criterion = MentorLoss("pd", 20, 0.0)
    scale_weight_decay(made[0], criterion)
    mean = criterion.weigh(torch.rand(16, generator=generator(0)) * 4).mean().item()
    made[1].param_groups[0]["weight_decay"] = 0.1 * mean
    for weight, optimiser in zip((ours, theirs), made, strict=True):
        optimiser.grad_scale, optimiser.found_inf = torch.tensor(1024.0), torch.tensor(0.0)
        weight.grad = torch.full((5,), 1024.0)
        optimiser.step()
    torch.testing.assert_close(ours, theirs)
    before = ours.detach().clone()
    made[0].found_inf = torch.tensor(1.0)
    made[0].step()
    assert torch.equal(ours, before)
