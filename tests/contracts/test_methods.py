"""One exam for all methods: what every row of the tables must do."""

from __future__ import annotations

import pytest
import torch

from mentornet.criterion import Verified
from mentornet.errors import MentorNetError
from mentornet.methods import METHODS, Supervision, Task, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator
from tests.training.runs import METHOD_SETTINGS

COUNT, CLASSES, BATCH = 40, 4, 20


def task(total_steps: int = 10) -> Task:
    draw = generator(5)
    is_correct = torch.rand(COUNT, generator=draw) < 0.6
    return Task(
        count=COUNT, classes=CLASSES, total_steps=total_steps, verified=Verified(
            torch.arange(COUNT), is_correct
        ), is_correct=is_correct,
    )  # fmt: skip


def started(name: str) -> Supervision:
    return make_method(name, **parse_settings(METHOD_SETTINGS[name])).start(task())


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    draw = generator(7, step)
    index = torch.randperm(COUNT, generator=draw)[:BATCH]
    logits = torch.randn(BATCH, CLASSES, generator=draw, requires_grad=True)
    return logits, torch.randint(CLASSES, (BATCH,), generator=draw), index


@pytest.fixture(params=list(METHODS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_method_is_in_the_exam() -> None:
    assert METHOD_SETTINGS.keys() == METHODS.keys()


def test_losses_are_one_a_sample_and_reach_the_student(name: str) -> None:
    logits, label, _ = batch(0)
    losses = started(name).losses(logits, label)
    assert losses.shape == (BATCH,)
    assert losses.dtype == torch.float32
    assert (losses >= 0).all()
    (gradient,) = torch.autograd.grad(losses.sum(), logits)
    assert gradient.isfinite().all()
    assert gradient.abs().sum() > 0


def test_weights_are_shares_without_gradient(name: str) -> None:
    supervision = started(name)
    for step in range(10):
        logits, label, index = batch(step)
        losses = supervision.losses(logits, label)
        weights = supervision.weights(losses, label, index, 0.1)
        if not supervision.weighs:
            assert weights is None
            continue
        assert weights is not None
        assert weights.shape == (BATCH,)
        assert not weights.requires_grad
        assert ((weights >= 0) & (weights <= 1)).all()


def test_losses_do_not_depend_on_the_order(name: str) -> None:
    logits, label, _ = batch(0)
    order = torch.randperm(BATCH, generator=generator(1))
    supervision = started(name)
    one = supervision.losses(logits, label)[order]
    other = supervision.losses(logits[order], label[order])
    assert torch.allclose(one, other)


def test_state_makes_a_twin(name: str) -> None:
    """After `load_state_dict` the twin gives the same weights to the end."""
    one = started(name)
    for step in range(5):
        logits, label, index = batch(step)
        one.weights(one.losses(logits, label), label, index, 0.1)
    twin = started(name)
    twin.load_state_dict(one.state_dict())
    for step in range(5, 10):
        logits, label, index = batch(step)
        losses = one.losses(logits, label)
        assert torch.equal(losses, twin.losses(logits, label))
        weights, same = (it.weights(losses, label, index, 0.1) for it in (one, twin))
        assert (weights is None and same is None) or torch.equal(weights, same)  # type: ignore[arg-type]


def test_settings_are_as_written(name: str) -> None:
    method = make_method(name)
    again = make_method(name, **method.settings)
    assert again == method
    assert method.title


def test_a_misspelt_setting_names_the_closest(name: str) -> None:
    with pytest.raises(MentorNetError, match=f"{name} has no setting 'percentil'"):
        make_method(name, percentil=0.5)


def test_unknown_method() -> None:
    with pytest.raises(MentorNetError, match="did you mean 'goldberger'"):
        make_method("goldberg")
