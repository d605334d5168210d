"""The drop-in and the trainer have one engine: on the same losses they give the same weights."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorLoss
from mentornet.data import Batch
from mentornet.methods import Task, make_method
from mentornet.methods.weighted import Weighted
from mentornet.randomness import generator
from mentornet.verdicts import Verdicts
from mentornet.weighting import Evidence
from tests.methods.steps import AtWork

COUNT, BATCH, CLASSES, STEPS = 300, 100, 5, 100
LOOKED_AT = 120


def verdicts(is_correct: Tensor, true_label: Tensor) -> Verdicts:
    """Of the first samples: whether each label is right, and of every second the true one."""
    index = torch.arange(LOOKED_AT)
    told = torch.where(index % 2 == 0, true_label[:LOOKED_AT], -1)
    return Verdicts(index, is_correct[:LOOKED_AT], told)


def labels() -> tuple[Tensor, Tensor]:
    """True and given labels, of which a third are wrong."""
    draw = generator(1)
    true = torch.randint(CLASSES, (COUNT,), generator=draw)
    wrong = torch.rand(COUNT, generator=draw) < 1 / 3
    other = (true + torch.randint(1, CLASSES, (COUNT,), generator=draw)) % CLASSES
    return true, torch.where(wrong, other, true)


def index_of(step: int) -> Tensor:
    return torch.randperm(COUNT, generator=generator(2, step))[:BATCH]


@pytest.mark.parametrize("mentor", ["pd", "auto"])
def test_learning_from_verdicts_is_the_dd_of_the_trainer(mentor: str) -> None:
    """The defaults of both, through burn-in and the mentors learned at 12 and 17 of 100."""
    true, given = labels()
    said = verdicts(given == true, true)
    method = make_method("mentornet-dd").start(Task(COUNT, CLASSES, STEPS, verdicts=said))
    assert isinstance(method, Weighted)
    criterion = MentorLoss(mentor, STEPS, samples=COUNT)
    criterion.learn_from(said.index, said.is_correct, said.true_label)
    for step in range(19):
        index = index_of(step)
        sure = min(1.0, step / 10)  # small losses are the wrong ones, which PD does not know
        losses = 2 - sure * torch.where(given == true, -1.0, 1.0)[index]
        losses = losses + torch.rand(BATCH, generator=generator(3, step)) / 2
        label = given[index]
        theirs = method.weights(Evidence(losses, label, torch.full_like(label, -1), index), 0.1)
        assert theirs is not None
        assert torch.equal(criterion.weigh(losses, label, index=index), theirs), step
    assert criterion.notes == method.notes()
    assert len(criterion.notes) == 2
    assert "the learned one is used" in criterion.notes[-1]
    assert criterion.weights[index >= LOOKED_AT].std() > 0


class Said(nn.Module):
    """A student that says what it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.scale * inputs


@pytest.mark.parametrize("case", ["auto", "pd", "verdicts", "right labels only"])
def test_from_logits_too(case: str) -> None:
    """A whole step of the trainer beside a whole call of the criterion."""
    true, given = labels()
    said, right = None, (given == true).nonzero()[:60, 0]
    if case == "verdicts":
        said = verdicts(given == true, true)
    elif case == "right labels only":
        said = Verdicts(right, torch.ones(len(right)).bool())
    name = f"mentornet-{case}" if said is None else "mentornet-dd"
    work = AtWork(make_method(name), Task(COUNT, CLASSES, STEPS, verdicts=said))
    criterion = MentorLoss(
        "pd" if case == "pd" else "auto", STEPS, samples=COUNT,
        clean_index=right if case == "right labels only" else None,
    )  # fmt: skip
    if case == "verdicts":
        assert said is not None
        criterion.learn_from(said.index, said.is_correct, said.true_label)
    steps = 30 if said is None else 19
    for step in range(steps):
        index = index_of(step)
        logits = min(1.0, step / 8) * 5 * nn.functional.one_hot(true[index], CLASSES)
        logits = logits + torch.randn(BATCH, CLASSES, generator=generator(4, step))
        done = work.step(Said(), Batch(index, logits, given[index]))
        loss = criterion(logits, given[index], index=index)
        assert work.weights is not None
        assert torch.equal(criterion.weights, work.weights), step
        torch.testing.assert_close(loss, done.loss)
    assert criterion.weights.mean() < 0.95
    assert len(criterion.notes) == (0 if said is None else 2)
