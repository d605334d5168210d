"""One step: nothing is computed twice, processes exchange once, and every head is taught."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.utils._python_dispatch import TorchDispatchMode

from mentornet import MentorLoss
from mentornet.data import Batch
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.methods import Method, Outputs, Seen, Supervision, Task, Taught, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator, seeded
from mentornet.records import margins_of
from mentornet.training import Trainer
from mentornet.verdicts import Verdicts
from mentornet.weighting import Evidence
from tests.methods.steps import AtWork
from tests.training.runs import prepared

COUNT, BATCH, CLASSES = 60, 20, 4


class Counted(TorchDispatchMode):
    """Counts the operations inside, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        self.calls[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("method", "losses"),
    [("full-model", 1), ("mentornet-pd", 1), ("mentornet-auto", 1), ("mentornet-dd", 2)],
)
def test_nothing_is_computed_twice_in_a_step(
    method: str, losses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DD takes the loss a second time, on the labels that verdicts put right."""
    margins: list[int] = []

    def counted(logits: Tensor, label: Tensor) -> Tensor:
        margins.append(len(label))
        return margins_of(logits, label)

    monkeypatch.setattr("mentornet.training.step.margins_of", counted)
    trainer = Trainer(prepared(method))
    trainer.student.train()
    batches = trainer.batches.epoch(0)
    with seeded(0):
        trainer.step(next(batches), 0)
        margins.clear()
        batch = next(batches)
        with Counted() as counts:
            trainer.step(batch, 0)
    assert counts.calls["_log_softmax"] == 1
    assert counts.calls["_softmax"] == 0
    assert counts.calls["argmax"] == 1
    assert counts.calls["nll_loss_forward"] == losses
    assert counts.calls["_log_softmax_backward_data"] == 1
    assert margins == [len(batch.index)]


@pytest.mark.parametrize("mentor", ["auto", "pd"])
def test_nothing_is_computed_twice_in_a_call_of_the_criterion(mentor: str) -> None:
    """The loss is taken once to be weighed and once, weighted, to be descended."""
    criterion = MentorLoss(mentor, 10, samples=BATCH)
    logits = torch.randn(BATCH, CLASSES, generator=generator(0)).requires_grad_()
    label = torch.arange(BATCH) % CLASSES
    with Counted() as counts:
        criterion(logits, label, index=torch.arange(BATCH)).backward()
    assert counts.calls["_log_softmax"] == 1
    assert counts.calls["_softmax"] == 0
    assert counts.calls["argmax"] == 1
    assert counts.calls["nll_loss_forward"] == 2
    assert counts.calls["_log_softmax_backward_data"] == 1


@dataclass(frozen=True)
class Two(Processes):
    """The first of two processes, of which the other always says the same; it counts."""

    world: int = 2
    exchanges: list[str] = field(default_factory=list)

    def gather(self, columns: Sequence[Tensor], count: int | None = None) -> list[Tensor]:
        self.exchanges.append("gather")
        mine = len(columns[0])
        assert count in (None, 2 * mine)
        return [torch.cat([column, column]) for column in columns]

    def total(self, numbers: Tensor) -> Tensor:
        self.exchanges.append("total")
        return 2 * numbers

    def follow(self, *tensors: Tensor) -> None:
        self.exchanges.append("follow")


def linear() -> nn.Module:
    with seeded(3):
        return nn.Sequential(nn.Flatten(), nn.Linear(12, CLASSES))


def shared(step: int) -> Batch:
    """Our half of a batch."""
    draw = generator(7, step)
    index = torch.randperm(COUNT, generator=draw)[: 2 * BATCH]
    label = torch.randint(CLASSES, (2 * BATCH,), generator=draw)
    images = torch.randn(BATCH, 3, 2, 2, generator=draw)
    return Batch(index[:BATCH], images, label[:BATCH], Batch(index, images[:0], label))


def task() -> Task:
    verdicts = Verdicts(torch.arange(0, COUNT, 2), torch.arange(0, COUNT, 2) % 3 > 0)
    return Task(COUNT, CLASSES, 20, verdicts=verdicts)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize(
    "method", ["full-model", "mentornet-pd", "mentornet-auto", "mentornet-dd", "spade"]
)
def test_processes_exchange_once_a_step(method: str, parts: int) -> None:
    settings = ("steps=20", "updates=0.2,0.4") if method == "mentornet-dd" else ()
    two, made = Two(), make_method(method, **parse_settings(settings))
    work = AtWork(made, task(), parts=parts, processes=two)
    student = linear()
    for step in range(10):
        work.step(student, shared(step))
        assert two.exchanges == ["gather"] * (step + 1)
    if method == "mentornet-dd":
        assert len(work.supervision.notes()) == 2  # learned on the way


def test_what_is_learned_beside_the_student_takes_one_more() -> None:
    """Fabric shares the gradients of the student; those of a noise layer are ours to share."""
    two = Two()
    work = AtWork(make_method("goldberger"), task(), processes=two)
    work.step(linear(), shared(0))
    assert two.exchanges == ["gather", "total"]


@pytest.mark.parametrize("mentor", ["auto", "pd"])
def test_the_criterion_exchanges_once_a_call(mentor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And compares the sizes of the batches before its first."""
    two = Two()
    monkeypatch.setattr("mentornet.distributed.Processes.here", lambda: two)
    criterion = MentorLoss(mentor, 10, samples=2 * BATCH)
    logits = torch.randn(BATCH, CLASSES, generator=generator(0)).requires_grad_()
    index = torch.arange(BATCH)

    def gather(columns: Sequence[Tensor], count: int | None = None) -> list[Tensor]:
        two.exchanges.append("gather")
        other = [
            column + BATCH if torch.equal(column, index.to(column.dtype)) else column
            for column in columns
        ]
        return [torch.cat(pair) for pair in zip(columns, other, strict=True)]

    object.__setattr__(two, "gather", gather)
    for step in range(5):
        criterion(logits, index % CLASSES, index=index)
        assert two.exchanges == ["gather"] * (step + 2)
    assert criterion.records is not None
    assert not criterion.records.loss.isnan().any()


class TwoHeads(nn.Module):
    """A student with a second head, whose loss counts for a share."""

    auxiliary_share = 0.5

    def __init__(self) -> None:
        super().__init__()
        self.main = linear()
        self.auxiliary_logits: Tensor | None = None

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.main(images)
        self.auxiliary_logits = 2 * logits
        return logits


def whole() -> Batch:
    half = shared(0)
    return Batch(half.index, half.inputs, half.given_label)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("q", [0.2, 0.7])
def test_an_auxiliary_head_is_taught_by_the_methods_own_loss(q: float, parts: int) -> None:
    """(1 − p_y^q) / q of both heads, by hand: no cross-entropy on the side."""
    student, batch = TwoHeads(), whole()
    done = AtWork(make_method("gce", q=q), task(), parts=parts).step(student, batch)

    def value(scale: float) -> Tensor:
        p = (scale * student.main(batch.inputs)).softmax(1)
        return ((1 - p.gather(1, batch.given_label[:, None])[:, 0] ** q) / q).mean()

    expected = value(1.0) + 0.5 * value(2.0)
    assert done.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    gradients = torch.autograd.grad(expected, list(student.parameters()))
    for parameter, gradient in zip(student.parameters(), gradients, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


def test_an_auxiliary_head_has_the_weights_of_the_main_one() -> None:
    student, batch = TwoHeads(), whole()
    method = make_method("mentornet-pd", burn_in=0.0, percentile=0.3)
    work = AtWork(method, task())
    done = work.step(student, batch)
    assert work.weights is not None
    assert 0 < work.weights.mean() < 1
    logits = student.main(batch.inputs)
    first, second = (
        F.cross_entropy(scale * logits, batch.given_label, reduction="none") for scale in (1, 2)
    )
    expected = (work.weights * (first + 0.5 * second)).mean()
    assert done.loss.item() == pytest.approx(expected.item(), rel=1e-5)


class Mean(Supervision):
    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return super().losses(outputs, label, batch).mean()


class Many(Supervision):
    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return outputs.log_p


class Column(Supervision):
    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        return torch.ones_like(evidence.losses)[:, None]


class MeanTaught(Supervision):
    def teach(self, seen: Seen) -> Taught:
        return Taught(seen.losses.mean())


@dataclass(frozen=True)
class Own(Method):
    name = title = summary = "own"
    kind: type[Supervision] = Mean

    def start(self, task: Task) -> Supervision:
        return self.kind()


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize(
    ("kind", "what", "shape"),
    [
        (Mean, "loss", "()"), (Many, "loss", f"(B, {CLASSES})"), (Column, "weight", "(B, 1)"),
        (MeanTaught, "loss", "()"),
    ],
)  # fmt: skip
def test_a_method_that_gives_the_wrong_shape_is_told(
    kind: type[Supervision], what: str, shape: str, parts: int
) -> None:
    """Broadcast in silence, any of them would train on something else."""
    size = BATCH // parts
    with pytest.raises(MentorNetError) as caught:
        AtWork(Own(kind), task(), parts=parts).step(linear(), whole())
    assert str(caught.value) == (
        f"the method must return one {what} per sample, ({size},), got a tensor of shape "
        f"{shape.replace('B', str(size))}"
    )


class Small(Supervision):
    """The half with the smaller losses; weight decay does not follow."""

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        return (evidence.losses <= evidence.losses.median()).float()


def test_weights_count_in_parts_whether_or_not_weight_decay_follows_them() -> None:
    found = []
    for parts in (1, 2):
        student = linear()
        done = AtWork(Own(Small), task(), parts=parts).step(student, whole())
        assert done.decays is None
        assert done.trust is not None
        assert done.trust.mean() == 0.5
        gradients = [part.grad for part in student.parameters() if part.grad is not None]
        found.append((done.loss, *gradients))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)
