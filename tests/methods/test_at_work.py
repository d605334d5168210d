"""Every method at work: its step takes its own settings, and its gradient goes where it should.

The formulas are written once more here, in plain arithmetic on the class shares of one sample; the
slope of the loss is compared with how that arithmetic changes when the student changes a little.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods import Task, make_method
from mentornet.methods.mixing import Mixer
from mentornet.randomness import generator
from mentornet.verdicts import Verdicts
from mentornet.weighting import Evidence
from tests.methods.steps import AtWork

COUNT, CLASSES = 6, 3
Formula = Callable[[list[float], int], float]


class Scaled(nn.Module):
    """A student whose logits are its images, times one weight."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale, dtype=torch.float64))

    def forward(self, images: Tensor) -> Tensor:
        return self.scale * images.flatten(1)


def batch(seed: int = 0) -> Batch:
    draw = generator(seed)
    images = torch.randn(COUNT, CLASSES, 1, 1, generator=draw, dtype=torch.float64)
    labels = torch.randint(CLASSES, (COUNT,), generator=draw)
    return Batch(torch.arange(COUNT), images, labels)


def shares(row: list[float], scale: float = 1.0) -> list[float]:
    total = sum(math.exp(scale * value) for value in row)
    return [math.exp(scale * value) / total for value in row]


def entropy(p: list[float]) -> float:
    return -sum(share * math.log(share) for share in p)


def behind_noise(p: list[float], y: int, rate: float) -> float:
    given = sum(p[i] * (1 - rate if i == y else rate / (CLASSES - 1)) for i in range(CLASSES))
    return -math.log(given)


FORMULAS: dict[str, tuple[dict[str, float], Formula]] = {
    "full-model": ({}, lambda p, y: -math.log(p[y])),
    "focal": ({"gamma": 1.0}, lambda p, y: -(1 - p[y]) * math.log(p[y])),
    "reed-soft": ({"beta": 0.6}, lambda p, y: -0.6 * math.log(p[y]) + 0.4 * entropy(p)),
    "reed-hard": ({"beta": 0.6}, lambda p, y: -0.6 * math.log(p[y]) - 0.4 * math.log(max(p))),
    "goldberger": ({"rate": 0.3}, lambda p, y: behind_noise(p, y, 0.3)),
    "gce": ({"q": 0.3}, lambda p, y: (1 - p[y] ** 0.3) / 0.3),
    "sce": (
        {"alpha": 0.4, "beta": 2.0, "log_zero": -6.0},
        lambda p, y: -0.4 * math.log(p[y]) + 2.0 * 6.0 * (1 - p[y]),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_loss_and_its_slope(name: str) -> None:
    """Reed's entropy pulls on the student, too; focal's factor has its slope."""
    settings, formula = FORMULAS[name]
    seen, student = batch(), Scaled(1.2)
    work = AtWork(make_method(name, **settings), Task(COUNT, CLASSES, 10))
    done = work.step(student, seen)
    rows, labels = seen.inputs.flatten(1).tolist(), seen.given_label.tolist()

    def value(scale: float) -> float:
        each = [formula(shares(row, scale), y) for row, y in zip(rows, labels, strict=True)]
        return sum(each) / COUNT

    assert done.loss.item() == pytest.approx(value(1.2), rel=1e-5)
    assert student.scale.grad is not None
    slope = student.scale.grad
    assert slope.item() == pytest.approx((value(1.2 + 1e-4) - value(1.2 - 1e-4)) / 2e-4, rel=1e-4)


def test_elr_has_no_gradient_through_its_target() -> None:
    seen, student = batch(), Scaled(1.2)
    elr = AtWork(make_method("elr", strength=2.0, decay=0.6), Task(COUNT, CLASSES, 10))
    done = elr.step(student, seen)
    rows, labels = seen.inputs.flatten(1).tolist(), seen.given_label.tolist()
    targets = [[0.4 * share for share in shares(row, 1.2)] for row in rows]

    def value(scale: float) -> float:
        total = 0.0
        for row, y, target in zip(rows, labels, targets, strict=True):
            p = shares(row, scale)
            agreed = sum(a * b for a, b in zip(p, target, strict=True))
            total += -math.log(p[y]) + 2.0 * math.log(1 - agreed)
        return total / COUNT

    assert done.loss.item() == pytest.approx(value(1.2), rel=1e-5)
    assert student.scale.grad is not None
    slope = student.scale.grad
    assert slope.item() == pytest.approx((value(1.2 + 1e-4) - value(1.2 - 1e-4)) / 2e-4, rel=1e-4)


def test_forgetting_sets_the_dropout() -> None:
    assert make_method("forgetting", dropout=0.3).needs.dropout == 0.3


def test_self_paced_learns_all_until_burn_in_ends() -> None:
    seen = batch()
    method = make_method("self-paced", percentile=0.5, decay=0.0, burn_in=0.2)
    paced = AtWork(method, Task(COUNT, CLASSES, 10))
    kept = []
    for _ in range(3):
        weights = paced.step(Scaled(), seen).trust
        assert weights is not None
        kept.append(int(weights.sum()))
    assert kept == [COUNT, COUNT, COUNT // 2]


@pytest.mark.parametrize(
    ("temperature", "reweigh", "burn_in"),
    [(1.0, True, 0.0), (0.05, True, 0.0), (1.0, False, 0.0), (1.0, True, 0.5)],
)
def test_mentormix_with_its_settings(temperature: float, reweigh: bool, burn_in: float) -> None:
    """Jiang et al. 2020, Algorithm 1; the weight decay follows the weights of the blends."""
    seen, student = batch(), Scaled()
    method = make_method(
        "mentormix", percentile=0.5, decay=0.0, burn_in=burn_in, alpha=2.0,
        temperature=temperature, reweigh=reweigh,
    )  # fmt: skip
    work = AtWork(method, Task(COUNT, CLASSES, 10, seed=4))
    done = work.step(student, seen)
    x, label = seen.inputs.flatten(1), nn.functional.one_hot(seen.given_label, CLASSES).double()
    losses = -(label * x.log_softmax(1)).sum(1)
    v = torch.ones(COUNT) if burn_in else (losses <= losses.quantile(0.5)).float()
    drawn = torch.tensor([math.exp(weight / temperature) for weight in v.tolist()])
    share, partner = Mixer(2.0, seed=4).draw((drawn / drawn.sum()).double())
    share = torch.where(v == 1, torch.maximum(share, 1 - share), torch.minimum(share, 1 - share))
    share = share[:, None]
    mixed, target = (share * it + (1 - share) * it[partner] for it in (x, label))
    each = -(target * mixed.log_softmax(1)).sum(1)
    again = reweigh and not burn_in
    kept = (each <= each.quantile(0.5)).double() if again else torch.ones(COUNT).double()
    assert done.loss.item() == pytest.approx((kept * each).mean().item(), rel=1e-5)
    assert work.supervision.weighs is reweigh
    assert (done.decays is not None) is reweigh
    if done.decays is not None:
        assert torch.equal(done.decays.double(), kept)


@pytest.mark.parametrize("mixup", [0.0, 0.5])
def test_bootstrap_remembers_what_it_believed(mixup: float) -> None:
    """Over two steps: t = v y + (1 − v) q, q ← 0.7 q + 0.3 p, and pairs of t are blended."""
    seen, student = batch(), Scaled()
    method = make_method(
        "mentor-bootstrap", mentor="pd", burn_in=0.0, smoothing=0.0, belief=0.7, mixup=mixup
    )
    bootstrap = AtWork(method, Task(COUNT, CLASSES, 10, seed=4))
    x, label = seen.inputs.flatten(1), nn.functional.one_hot(seen.given_label, CLASSES).double()
    before, belief = 1.2 * x, torch.zeros(COUNT, CLASSES).double()
    mixer = Mixer(mixup or 1.0, seed=4)
    for logits, scale in ((before, 1.2), (0.5 * x, 0.5)):
        student.scale.data.fill_(scale)
        done = bootstrap.step(student, seen)
        assert bootstrap.weights is not None
        v = bootstrap.weights.double()[:, None]
        belief = 0.7 * belief + 0.3 * logits.softmax(1)
        target = v * label + (1 - v) * belief / belief.sum(1, keepdim=True)
        if mixup:
            share, partner = mixer.draw(torch.ones(COUNT))
            share = share.double()[:, None]
            target = share * target + (1 - share) * target[partner]
            logits = share * logits + (1 - share) * logits[partner]  # noqa: PLW2901
        expected = -(target * logits.log_softmax(1)).sum(1).mean()
        assert done.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert 0 < v.mean() < 1


def test_bootstrap_teaches_verified_labels() -> None:
    count = 12
    draw = generator(3)
    images = torch.randn(count, CLASSES, 1, 1, generator=draw, dtype=torch.float64)
    given = torch.randint(CLASSES, (count,), generator=draw)
    true = (given + (torch.arange(count) % 2)) % CLASSES
    seen = Batch(torch.arange(count), images, given)
    verdicts = Verdicts(torch.arange(count), given == true, true)
    method = make_method("mentor-bootstrap", burn_in=0.5)
    done = AtWork(method, Task(count, CLASSES, 10, verdicts=verdicts)).step(Scaled(), seen)
    expected = nn.functional.cross_entropy(images.flatten(1), true)
    assert done.loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_papers_self_paced_threshold_only_rises() -> None:
    """λ₀ is the median of the average losses in the first two epochs; then it rises to 1.2 λ₀."""
    method = make_method("self-paced", threshold="rises", percentile=0.5, growth=0.2, burn_in=0.3)
    supervision = method.start(Task(count=4, classes=2, total_steps=10))
    epochs = [[2.0, 4.0, 1.0, 3.0], [0.0, 2.0, 1.0, 9.0]]  # averages 1, 3, 1, 6: the median is 2
    given: list[list[float]] = []

    def step(losses: list[float], index: list[int]) -> None:
        batch = torch.tensor(index)
        evidence = Evidence(torch.tensor(losses), batch % 2, batch % 2, batch)
        weights = supervision.weights(evidence, 0.1)
        assert weights is not None
        given.append(weights.tolist())

    for epoch, losses in enumerate(epochs):
        step(losses[:2], [0, 1])
        step(losses[2:], [2, 3])
        supervision.end_epoch(epoch)
    assert given == [[1.0, 1.0]] * 4  # nothing is left out yet
    twin = method.start(Task(count=4, classes=2, total_steps=10))
    twin.load_state_dict(supervision.state_dict())
    supervision = twin
    given.clear()
    for done in range(6):
        limit = 2 * (1 + 0.2 * done / 6)
        step([limit - 0.01, limit + 0.01, math.nan, 0.1], [0, 1, 2, 3])
    assert given == [[1.0, 0.0, 0.0, 1.0]] * 6


def test_the_papers_self_paced_threshold_needs_one_epoch() -> None:
    supervision = make_method("self-paced", threshold="rises", burn_in=0.0, percentile=1.0).start(
        Task(count=2, classes=2, total_steps=100)
    )
    batch = torch.arange(2)
    first = Evidence(torch.tensor([1.0, 3.0]), batch, batch, batch)
    later = Evidence(torch.tensor([2.9, 3.1]), batch, batch, batch)
    for evidence, kept in ((first, [1.0, 1.0]), (later, [1.0, 0.0])):
        weights = supervision.weights(evidence, 0.1)
        assert weights is not None
        assert weights.tolist() == kept
        supervision.end_epoch(0)
    assert dict(supervision.metrics())["loss_level"] == 3


def test_self_paced_knows_two_thresholds() -> None:
    with pytest.raises(MentorNetError, match="threshold must be follows or rises, got 'fixed'"):
        make_method("self-paced", threshold="fixed")
