"""The criterion in loops as people write them: autocast, no_grad, half losses, odd numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorLoss, MentorNetError
from mentornet.curricula import make_curriculum
from mentornet.mentors import load_mentor, make_mentor
from mentornet.randomness import generator
from mentornet.weighting.evidence import IGNORE

COUNT, CLASSES, LOOKED_AT = 64, 4, 48


def batches(steps: int) -> list[tuple[Tensor, Tensor]]:
    """Logits of a student that is right, and labels of which each third is wrong."""
    draw = generator(1)
    true = torch.randint(CLASSES, (COUNT,), generator=draw)
    given = torch.where(torch.arange(COUNT) % 3 == 0, (true + 1) % CLASSES, true)
    sure = 4.0 * nn.functional.one_hot(true, CLASSES)
    return [(sure + torch.randn(COUNT, CLASSES, generator=draw) / 2, given) for _ in range(steps)]


def verified(total_steps: int = 10) -> MentorLoss:
    """Three in four samples are verified; the others show what was learned from them."""
    criterion = MentorLoss("pd", total_steps, burn_in=0.0, samples=COUNT, updates=(0.3,))
    criterion.learn_from(range(LOOKED_AT), torch.arange(LOOKED_AT) % 3 != 0)
    return criterion


def test_a_lesson_under_autocast_is_the_lesson_without() -> None:
    """Autocast keeps copies of the weights: Adam's steps must not be hidden by them."""
    weights = []
    for enabled in (False, True):
        criterion = verified()
        for logits, labels in batches(6):
            with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
                criterion(logits.requires_grad_(), labels, index=torch.arange(COUNT))
        assert "the learned one is used" in criterion.notes[0]
        weights.append(criterion.weights)
    torch.testing.assert_close(*weights, rtol=0, atol=1e-6)


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_weigh_without_gradients_can_learn(context: Any) -> None:
    criterion = verified()
    with context():
        for logits, labels in batches(6):
            losses = nn.functional.cross_entropy(logits, labels, reduction="none")
            weights = criterion.weigh(losses, labels, index=torch.arange(COUNT), logits=logits)
    assert "the learned one is used" in criterion.notes[0]
    others = weights[LOOKED_AT:]  # the first of them has a wrong label
    assert others[1::3].mean() > 0.9 > 0.1 > others[::3].mean()


@pytest.mark.parametrize("mentor", ["auto", "pd"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_losses(mentor: str, dtype: torch.dtype) -> None:
    criterion = MentorLoss(mentor, 10, burn_in=0.0)
    for logits, labels in batches(3):
        losses = nn.functional.cross_entropy(logits, labels, reduction="none").to(dtype)
        loss = criterion(losses=losses.requires_grad_())
    assert criterion.weights.dtype == torch.float32
    assert loss.isfinite()


def test_a_criterion_in_double_takes_floats() -> None:
    criterion = MentorLoss(total_steps=10, samples=COUNT).double()
    logits, labels = batches(1)[0]
    assert criterion(logits.requires_grad_(), labels, index=torch.arange(COUNT)).isfinite()


def test_moving_a_criterion_leaves_its_formats() -> None:
    criterion = MentorLoss(total_steps=10, samples=COUNT)
    before = {name: part.dtype for name, part in criterion.state_dict().items()}
    criterion.to("cpu").half().to(torch.bfloat16)
    assert {name: part.dtype for name, part in criterion.state_dict().items()} == before


def test_halving_a_model_does_not_round_its_criterion() -> None:
    criterion = MentorLoss("pd", 10)
    before = {name: part.clone() for name, part in criterion.engine.rule.state_dict().items()}  # type: ignore[union-attr]
    edges = criterion.noise.state_dict()
    nn.ModuleDict({"criterion": criterion}).to(torch.bfloat16).half()
    after = criterion.engine.rule.state_dict()  # type: ignore[union-attr]
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(
        torch.equal(part, edges[name]) for name, part in criterion.noise.state_dict().items()
    )
    assert torch.equal(before["fc2.weight"], load_mentor("pd").state_dict()["fc2.weight"])


# Images of labels.


def segmented(unlabelled: int) -> tuple[Tensor, Tensor]:
    draw = generator(2)
    labels = torch.randint(CLASSES, (8, 3, 3), generator=draw)
    logits = 5.0 * nn.functional.one_hot(labels, CLASSES).permute(0, 3, 1, 2)
    logits = logits + torch.randn(logits.shape, generator=draw)
    labels[:unlabelled] = IGNORE
    return logits.requires_grad_(), labels


def test_images_without_labels_count_for_nothing() -> None:
    """They are neither right nor wrong: all else is as if they were not there."""
    with_them, without = MentorLoss(total_steps=20), MentorLoss(total_steps=20)
    logits, labels = segmented(3)
    for _ in range(20):
        both = with_them(logits, labels), without(logits[3:], labels[3:])
        torch.testing.assert_close(*both)
    assert torch.equal(with_them.weights[3:], without.weights)
    assert with_them.metrics() == pytest.approx(without.metrics())
    assert with_them.metrics()["bad_samples"] == 0
    assert torch.equal(with_them.account.tally, without.account.tally)


def test_a_later_batch_without_any_label_is_as_in_torch() -> None:
    criterion = MentorLoss(total_steps=20)
    criterion(*segmented(0))
    before = criterion.engine.level.value.clone()
    logits, labels = segmented(8)
    assert criterion(logits, labels).isnan()
    assert nn.functional.cross_entropy(logits, labels).isnan()
    assert criterion.metrics()["bad_samples"] == 0
    assert torch.equal(criterion.engine.level.value, before)


def test_a_first_batch_without_any_label_is_refused() -> None:
    with pytest.raises(MentorNetError, match="all 8 labels of the first batch are -100, so there"):
        MentorLoss(total_steps=20)(*segmented(8))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_what_is_no_number_where_there_is_no_label_does_no_harm(smoothing: float) -> None:
    logits, labels = segmented(0)
    labels[0, 1, 1] = IGNORE
    spoilt = logits.detach().clone()
    spoilt[0, :, 1, 1] = torch.nan
    criterion = MentorLoss("uniform", 20, burn_in=0.0, label_smoothing=smoothing)
    loss = criterion(spoilt.requires_grad_(), labels)
    plain = nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing)
    torch.testing.assert_close(loss, plain)
    loss.backward()
    plain.backward()
    torch.testing.assert_close(spoilt.grad, logits.grad)
    assert criterion.metrics()["bad_samples"] == 0


def test_a_batch_whose_only_labelled_images_are_no_numbers() -> None:
    logits, labels = segmented(3)
    with pytest.raises(MentorNetError, match="all 5 losses of the batch are NaN or infinite"):
        MentorLoss(total_steps=20)(logits * torch.nan, labels)


# The door.


@pytest.mark.parametrize("name", ["focal", "log-sum", "lorentzian", "huber"])
def test_losses_below_0(name: str) -> None:
    criterion = MentorLoss(make_curriculum(name), 10, burn_in=0.0)
    losses = torch.tensor([-3.0, -1.5, -0.5, 0.5, 2.0], requires_grad=True)
    with pytest.raises(MentorNetError, match=r"for losses below 0, and the smallest loss is -3"):
        criterion(losses=losses)
    with pytest.raises(MentorNetError, match=r"weights outside .* for losses below 0"):
        criterion.weigh(losses, torch.zeros(5).long(), logits=torch.zeros(5, 2))
    fine = MentorLoss("auto", 10)
    assert fine(losses=losses).isfinite()


@pytest.mark.parametrize("name", ["focal", "log-sum", "lorentzian", "huber"])
def test_losses_below_0_by_rounding(name: str) -> None:
    criterion = MentorLoss(make_curriculum(name), 10, burn_in=0.0)
    weights = criterion.weigh(-(torch.tensor([1.0, 0.5]) + 1e-6).log())
    assert ((weights >= 0) & (weights <= 1)).all()


def test_a_device_without_autocast() -> None:
    criterion = MentorLoss(total_steps=10).to("meta")
    logits = torch.zeros(4, 3, device="meta", requires_grad=True)
    assert criterion(logits, torch.zeros(4, device="meta").long()).shape == ()


def test_half_logits_under_class_weights_are_evaluated_in_float() -> None:
    weight = torch.tensor([0.3, 1.7, 0.9])
    logits = torch.randn(8, 3, generator=generator(0)).bfloat16()
    labels = torch.arange(8) % 3
    found = MentorLoss(total_steps=10, class_weight=weight).eval()(logits, labels)
    torch.testing.assert_close(found, nn.functional.cross_entropy(logits.float(), labels, weight))


def test_whole_floats_are_steps() -> None:
    steps: Any = 4 * 100 / 8
    assert MentorLoss(total_steps=steps).engine.total_steps == 50
    for ten in (np.float32(10), np.int64(10), torch.tensor(10)):
        steps = ten
        assert MentorLoss(total_steps=steps).engine.total_steps == 10


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "part of a step": ({"total_steps": 3 * 100 / 8}, "must be a whole number, got 37.5; usually"),
    "words": ({"total_steps": "10"}, "total_steps must be a whole number, got '10'"),
    "infinite": ({"total_steps": float("inf")}, "must be a whole number, got inf"),
    "none": ({"total_steps": 0}, "total_steps must be ≥ 1, got 0"),
    "samples": ({"samples": -1}, "samples must be ≥ 1, got -1"),
    "part of a sample": ({"samples": 10.5}, "samples must be a whole number, got 10.5"),
    "weights in a list": ({"class_weight": [1.0, 2.0]}, "must be a tensor (K,), got list"),
    "percent": ({"updates": (21, 75)}, "updates must be shares of training in (0, 1), got 21"),
    "no mentor": ({"mentor": None}, "mentor must be a name, a folder, a Mentor or a Curriculum"),
    "looks back": ({"mentor": make_mentor("bilstm", history=3)}, "samples= of MentorLoss"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake(case: str) -> None:
    settings, message = MISTAKES[case]
    with pytest.raises(MentorNetError, match=re.escape(message)):
        MentorLoss(**{"total_steps": 10, **settings})


def test_the_largest_seed() -> None:
    logits, labels = batches(1)[0]
    assert MentorLoss(total_steps=10, seed=2**63 - 1)(logits.requires_grad_(), labels).isfinite()


def test_records_count_progress_from_the_step_itself() -> None:
    criterion = MentorLoss("uniform", 100, burn_in=0.0, samples=COUNT)
    logits, labels = batches(1)[0]
    criterion(logits.requires_grad_(), labels, index=torch.arange(COUNT))
    assert criterion.records is not None
    assert set(criterion.records.learned_epoch.tolist()) == {0, 1}


def test_compiled_whole_it_refuses_to_be_one_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process would go its own way; with a graph break it asks the others."""
    monkeypatch.setattr("mentornet.weighting.evidence._are_several", lambda: True)
    compiled = torch.compile(MentorLoss(total_steps=10), fullgraph=True, backend="eager")
    logits, labels = batches(1)[0]
    with pytest.raises(Exception, match="MentorLoss cannot exchange with other processes"):
        compiled(logits.requires_grad_(), labels)
