"""`EarlyLoss`: the method of the trainer in a loop of one's own."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from mentornet import EarlyConfig, EarlyLoss, MentorNetError
from mentornet.data import Batch
from mentornet.methods import Task, make_method
from mentornet.randomness import generator, seeded
from mentornet.verdicts import draw_verdicts
from tests.methods.steps import AtWork

COUNT, BATCH, CLASSES, EPOCHS = 240, 40, 4, 12
STEPS = EPOCHS * COUNT // BATCH


def clouds() -> tuple[Tensor, Tensor, Tensor]:
    """Points, their true labels, and given labels of which a quarter is wrong."""
    draw = generator(1)
    true = torch.arange(COUNT) % CLASSES
    points = torch.randn(COUNT, 6, generator=draw) + 3 * F.one_hot(true, 6)
    wrong = torch.rand(COUNT, generator=draw) < 0.25
    return points, true, torch.where(wrong, (true + 1) % CLASSES, true)


def network() -> nn.Module:
    with seeded(2):
        return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, CLASSES))


def batches(epoch: int) -> list[Tensor]:
    return list(torch.randperm(COUNT, generator=generator(3, epoch)).split(BATCH))


def fresh(**settings: Any) -> EarlyLoss:
    config = EarlyConfig(**settings) if settings else None
    return EarlyLoss(total_steps=STEPS, samples=COUNT, classes=CLASSES, config=config)


@pytest.mark.parametrize("verified", [0, 40])
def test_it_is_the_method_of_the_trainer_bit_for_bit(verified: int) -> None:
    points, true, given = clouds()
    ours, theirs, criterion = network(), network(), fresh()
    said = draw_verdicts(given, true, verified, seed=0) if verified else None
    if said is not None:
        criterion.learn_from(said.index, said.is_correct, said.true_label)
    task = Task(COUNT, CLASSES, STEPS, verdicts=said)
    work = AtWork(make_method("mentornet-early"), task)
    steps = [torch.optim.SGD(net.parameters(), lr=0.3) for net in (ours, theirs)]
    for epoch in range(EPOCHS):
        work.supervision.begin_epoch(epoch)
        for index in batches(epoch):
            for sgd in steps:
                sgd.zero_grad()
            loss = criterion(ours(points[index]), given[index], index=index)
            loss.backward()
            done = work.step(theirs, Batch(index, points[index], given[index]))
            assert torch.equal(loss.detach(), done.loss)
            assert done.trust is not None
            if said is None:
                assert torch.equal(criterion.weights, done.trust)
            for sgd in steps:
                sgd.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other)
    wrong = given != true
    right = criterion.judge.right
    assert right[~wrong].mean() > 0.8 > 0.3 > right[wrong].mean()
    if said is not None:
        assert criterion.records is not None
        assert right[said.index[~said.is_correct]].max() < 0.5
    estimate = criterion.noise_estimate()
    assert estimate.low <= wrong.float().mean() <= estimate.high
    assert ("surest" if said is None else "verdicts show") in f"{estimate}"


def test_a_state_that_was_stored_goes_on_bit_for_bit() -> None:
    points, _, given = clouds()
    net, criterion = network(), fresh()
    for index in [*batches(0), *batches(1)[:2]]:
        criterion(net(points[index]), given[index], index=index).backward()
    other = fresh()
    other.load_state_dict(copy.deepcopy(criterion.state_dict()))
    for index in [*batches(1)[2:], *batches(2)]:
        losses = [one(net(points[index]), given[index], index=index) for one in (criterion, other)]
        assert torch.equal(*losses)


def test_when_it_does_not_train_it_is_the_plain_loss_and_remembers_nothing() -> None:
    points, _, given = clouds()
    net, criterion = network(), fresh().eval()
    plain = F.cross_entropy(net(points), given)
    assert torch.equal(criterion(net(points), given), plain)
    criterion.train()
    with torch.no_grad():
        assert torch.equal(criterion(net(points), given), plain)
    assert (criterion.judge.given == -1).all()


def test_until_labels_are_judged_and_with_no_second_term_it_is_the_cross_entropy() -> None:
    points, _, given = clouds()
    net, index = network(), torch.arange(COUNT)
    loss = fresh(strength=0.0)(net(points), given, index=index)
    assert loss.item() == pytest.approx(F.cross_entropy(net(points), given).item(), rel=1e-5)


def test_what_has_no_label_or_no_finite_loss_counts_for_nothing() -> None:
    points, _, given = clouds()
    net, index, few = network(), torch.arange(COUNT), given.clone()
    few[:10] = -100
    logits = net(points)
    spoilt = logits.clone()
    spoilt[10:20] = torch.nan
    criterion = fresh(strength=0.0)
    with pytest.warns(UserWarning, match="10 of 240 losses are NaN"):
        loss = criterion(spoilt, few, index=index)
    rest = F.cross_entropy(logits[20:], given[20:], reduction="sum") / (COUNT - 10)
    assert loss.item() == pytest.approx(rest.item(), rel=1e-5)
    assert (criterion.weights[:20] == 0).all()
    assert (criterion.judge.given[:20] == -1).all()
    assert (criterion.judge.seen[:20] == 0).all()
    loss.backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in net.parameters())


def test_it_compiles_as_one_graph() -> None:
    points, _, given = clouds()
    logits = network()(points).detach().requires_grad_()
    index, criterion, beside = torch.arange(COUNT), fresh(), fresh()
    torch.compiler.reset()
    compiled = torch.compile(criterion, backend="eager", fullgraph=True)
    for _ in range(2):
        loss = compiled(logits, given, index=index)
        assert torch.allclose(loss, beside(logits, given, index=index))
        criterion.judge_labels()
        beside.judge_labels()
    assert not criterion.judge.rate.isnan()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"classes": 3}, "give samples=, the size of the training set, and classes="),
        ({"samples": 9, "classes": 1}, "at least 2; got 9 and 1"),
    ],
)
def test_what_it_needs_is_said(arguments: dict[str, int], match: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(match)):
        EarlyLoss(total_steps=9, **arguments)  # type: ignore[arg-type]


def test_logits_of_other_classes_and_missing_numbers() -> None:
    criterion, given = fresh(), torch.zeros(2, dtype=torch.long)
    with pytest.raises(MentorNetError, match=re.escape("must be (B, 4) and labels (B,)")):
        criterion(torch.zeros(2, 5, requires_grad=True), given, index=torch.arange(2))
    with pytest.raises(MentorNetError, match="index"):
        criterion(torch.zeros(2, CLASSES, requires_grad=True), given)


def test_what_only_mentor_loss_has_is_said() -> None:
    criterion = fresh()
    with pytest.raises(MentorNetError, match="no weights for losses of your own"):
        criterion.weigh(torch.ones(2), index=torch.arange(2))


def test_a_second_look_teaches_what_the_student_is_sure_of() -> None:
    points, true, given = clouds()
    net, criterion = network(), fresh(sure=0.7)
    sgd = torch.optim.SGD(net.parameters(), lr=0.3)
    index, everyone = torch.arange(30), torch.arange(COUNT)
    assert criterion.second_look(net(points[index]), index=index) == 0
    for epoch in range(EPOCHS):
        for part in batches(epoch):
            sgd.zero_grad()
            criterion(net(points[part]), given[part], index=part).backward()
            sgd.step()
    judge = criterion.judge
    learned = (judge.belief > 0).nonzero()[:, 0]
    assert len(learned) > 20
    assert (judge.believed[learned] != given[learned]).all()
    assert (judge.believed[learned] == true[learned]).float().mean() > 0.8
    log_p = net(points).log_softmax(1).detach()
    expected = -sum(judge.belief[at] * log_p[at, judge.believed[at]] for at in learned) / COUNT
    found = criterion.second_look(net(points), index=everyone)
    assert found.item() == pytest.approx(float(expected), rel=1e-5)
    found.backward()


def test_bad_calls_of_the_second_look_and_of_verdicts() -> None:
    criterion, logits = fresh(), torch.zeros(2, CLASSES, requires_grad=True)
    with pytest.raises(MentorNetError, match="index"):
        criterion.second_look(logits, index=torch.tensor([0, COUNT]))
    with pytest.raises(MentorNetError, match=r"logits must be \(B, 4\), got \(2, 5\)"):
        criterion.second_look(torch.zeros(2, 5), index=torch.arange(2))
    index, right = torch.arange(20), torch.arange(20) > 5
    with pytest.raises(MentorNetError, match=r"true_label must be in 0–3, or −1 .* got 7"):
        criterion.learn_from(index, right, torch.full((20,), 7))
    criterion(logits, torch.zeros(2).long(), index=torch.arange(2))
    with pytest.raises(MentorNetError, match="before the first step"):
        criterion.learn_from(index, right)
    assert criterion.eval().second_look(logits, index=torch.arange(2)) == 0


def test_verdicts_are_not_lost_where_a_criterion_is_restored_or_moved() -> None:
    points, true, given = clouds()
    said = draw_verdicts(given, true, 40, seed=0)
    net, criterion, bare, other = network(), fresh(), fresh(), fresh()
    for one in (criterion, other):
        one.learn_from(said.index, said.is_correct, said.true_label)
    for epoch in range(4):
        for index in batches(epoch):
            criterion(net(points[index]), given[index], index=index).backward()
    assert criterion.engine.known is not None
    estimate = criterion.noise_estimate()
    assert estimate.low < 0.25 < estimate.high
    assert "verdict" in f"{estimate}"
    with pytest.raises(MentorNetError, match="call learn_from with the same samples before"):
        bare.load_state_dict(criterion.state_dict())
    other.load_state_dict(criterion.state_dict())
    assert other.engine.known is not None
    before = other.engine.known
    other.to(torch.float64)
    assert other.engine.known is not before


def test_a_label_that_is_only_known_to_be_wrong_teaches_no_guess() -> None:
    """With two classes the other one would be sure."""
    criterion = EarlyLoss(total_steps=20, samples=40, classes=2)
    wrong = torch.arange(40) >= 30
    criterion.learn_from(torch.arange(20, 40), ~wrong[20:])
    label, index = torch.arange(40) % 2, torch.arange(40)
    logits = 3.0 * F.one_hot(label, 2) + torch.randn(40, 2, generator=generator(8))
    for _ in range(10):
        criterion(logits.requires_grad_(), label, index=index).backward()
    criterion.judge_labels()
    assert criterion.judge.right[30:].max() < 0.5
    assert not criterion.judge.belief[20:].any()
