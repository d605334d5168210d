"""One exam for all methods: what every row of the tables must do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods import METHODS, Method, Needs, Task, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator, seeded
from mentornet.students import Pair
from mentornet.verdicts import Verdicts
from tests.methods.steps import AtWork
from tests.training.runs import METHOD_SETTINGS, SPECIAL_SETTINGS

COUNT, CLASSES, BATCH = 40, 4, 20


def task(total_steps: int = 10) -> Task:
    draw = generator(5)
    is_correct = torch.rand(COUNT, generator=draw) < 0.6
    true_label = torch.randint(-1, CLASSES, (COUNT,), generator=draw)
    every_second = torch.arange(0, COUNT, 2)
    verdicts = Verdicts(every_second, is_correct[every_second], true_label[every_second])
    return Task(
        count=COUNT, classes=CLASSES, total_steps=total_steps, verdicts=verdicts,
        is_correct=is_correct, features=torch.rand(COUNT, 6, generator=draw),
        given_label=torch.arange(COUNT) % CLASSES,
    )  # fmt: skip


def made(name: str) -> Method:
    return make_method(name, **parse_settings(METHOD_SETTINGS[name]))


def started(name: str) -> AtWork:
    return AtWork(made(name), task())


def student(name: str) -> nn.Module:
    with seeded(3):
        students = [nn.Sequential(nn.Flatten(), nn.Linear(12, CLASSES)) for _ in range(2)]
    return students[0] if made(name).needs.students == 1 else Pair(*students)


def batch(step: int) -> Batch:
    draw = generator(7, step)
    index = torch.randperm(COUNT, generator=draw)[:BATCH]
    images = torch.randn(BATCH, 3, 2, 2, generator=draw)
    label = torch.randint(CLASSES, (BATCH,), generator=draw)
    second = images + torch.randn(BATCH, 3, 2, 2, generator=draw) / 10
    return Batch(index, images, label, second=second)


@pytest.fixture(params=list(METHODS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_special_settings_are_of_methods_that_exist() -> None:
    assert SPECIAL_SETTINGS.keys() <= METHODS.keys()


def test_a_step_reaches_the_student(name: str) -> None:
    taught = student(name)
    done = started(name).step(taught, batch(0))
    losses, predicted = done.evidence.losses, done.evidence.predicted
    assert done.loss.shape == ()
    assert not done.loss.requires_grad
    assert losses.shape == predicted.shape == (BATCH,)
    assert not losses.requires_grad
    assert losses.dtype == torch.float32
    gradients = [part.grad for part in taught.parameters() if part.grad is not None]
    assert len(gradients) == len(list(taught.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.abs().sum() > 0 for gradient in gradients)


class SameHead(nn.Module):
    """A student whose auxiliary head gives the logits of its main one, for half their loss."""

    auxiliary_share = 0.5

    def __init__(self, main: nn.Module) -> None:
        super().__init__()
        self.main = main
        self.auxiliary_logits: Tensor | None = None

    def forward(self, images: Tensor) -> Tensor:
        self.auxiliary_logits = self.main(images)
        return self.auxiliary_logits


def test_an_auxiliary_head_is_taught_what_the_student_is(name: str) -> None:
    """So a head with the same logits adds its share of the same loss, in every step."""
    plain, other = student(name), student(name)
    if isinstance(other, Pair):
        headed: nn.Module = Pair(SameHead(other.first), SameHead(other.second))
    else:
        headed = SameHead(other)
    works = started(name), started(name)
    for step in range(3):
        one, two = (
            work.step(taught, batch(step))
            for work, taught in zip(works, (plain, headed), strict=True)
        )
        assert two.loss.item() == pytest.approx(1.5 * one.loss.item(), rel=1e-5)
        for mine, its in zip(plain.parameters(), headed.parameters(), strict=True):
            assert mine.grad is not None
            assert its.grad is not None
            torch.testing.assert_close(its.grad, 1.5 * mine.grad, rtol=1e-4, atol=1e-6)


def test_what_is_predicted_is_what_the_student_says(name: str) -> None:
    taught, seen = student(name), batch(0)
    done = started(name).step(taught, seen)
    assert torch.equal(done.evidence.predicted, taught.eval()(seen.inputs).argmax(1))


def test_weights_are_shares_without_gradient(name: str) -> None:
    work, taught = started(name), student(name)
    for step in range(10):
        done = work.step(taught, batch(step))
        assert (done.decays is not None) == work.supervision.weighs
        for weights in (done.trust, done.decays, work.weights):
            if weights is None:
                continue
            assert weights.shape == (BATCH,)
            assert not weights.requires_grad
            assert ((weights >= 0) & (weights <= 1)).all()


def test_losses_do_not_depend_on_the_order(name: str) -> None:
    order = torch.randperm(BATCH, generator=generator(1))
    taught, seen = student(name), batch(0)
    assert seen.second is not None
    other = Batch(
        seen.index[order], seen.inputs[order], seen.given_label[order], second=seen.second[order]
    )
    one = started(name).step(taught, seen)
    two = started(name).step(taught, other)
    assert torch.allclose(one.evidence.losses[order], two.evidence.losses, atol=1e-6)


def test_state_makes_a_twin(name: str) -> None:
    """After `load_state_dict` the twin takes the same steps to the end."""
    one, taught = started(name), student(name)
    for step in range(5):
        one.step(taught, batch(step))
    twin = started(name)
    twin.supervision.load_state_dict(one.supervision.state_dict())
    for step in range(5, 10):
        mine, same = (it.step(taught, batch(step)) for it in (one, twin))
        assert torch.equal(mine.loss, same.loss)
        assert torch.equal(mine.evidence.losses, same.evidence.losses)
        for ours, theirs in ((mine.trust, same.trust), (mine.decays, same.decays)):
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert torch.equal(ours, theirs)


def test_it_says_what_it_is_and_what_it_needs(name: str) -> None:
    """Help texts and tables of the docs are made of these."""
    method = made(name)
    assert method.name == name
    assert method.title.strip()
    assert method.summary.strip()
    assert "\n" not in method.summary
    assert isinstance(method.needs, Needs)


def test_settings_are_as_written(name: str) -> None:
    method = make_method(name)
    again = make_method(name, **method.settings)
    assert again == method


def test_a_misspelt_setting_names_the_closest(name: str) -> None:
    with pytest.raises(MentorNetError, match=f"{name} has no setting 'percentil'"):
        make_method(name, percentil=0.5)


def test_unknown_method() -> None:
    with pytest.raises(MentorNetError, match="did you mean 'goldberger'"):
        make_method("goldberg")
