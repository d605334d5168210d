"""Every mistake at the drop-in's door, and what comes of it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mentornet import MentorLoss, MentorNetError, make_curriculum, make_mentor
from mentornet.randomness import generator

NAN, INF = float("nan"), float("inf")
logits = torch.randn(4, 3, generator=generator(0))
labels = torch.tensor([0, 1, 2, 0])
index = torch.arange(4)


def loss(*inputs: Any, **options: Any) -> torch.Tensor:
    criterion = MentorLoss("pd", 10, samples=options.pop("samples", None))
    made: torch.Tensor = criterion(*inputs, **options)
    return made


def looking_back(**options: Any) -> torch.Tensor:
    made: torch.Tensor = MentorLoss(make_mentor("bilstm", history=3), 10, samples=9)(
        logits, labels, **options
    )
    return made


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "no total_steps": (MentorLoss, "total_steps is missing: how often will the loss be called in training? Usually epochs * len(loader)"),
    "total_steps 0": (lambda: MentorLoss(total_steps=0), "total_steps must be ≥ 1, got 0"),
    "burn_in 20": (lambda: MentorLoss(total_steps=9, burn_in=20), "burn_in must be in [0, 1], got 20"),
    "percentile 75": (lambda: MentorLoss("pd", total_steps=9, percentile=75), "percentile must be in [0, 1], got 75; did you mean 0.75?"),
    "a percentile for auto": (lambda: MentorLoss(total_steps=9, percentile=0.5), "mentor 'auto' finds its own percentile, got percentile=0.5"),
    "explicit and verified": (lambda: MentorLoss(make_curriculum("pd"), 9, samples=50, explicit=True, clean_index=range(20)), "explicit SPADE has no mentor that could learn"),
    "clean only, and no logits": (lambda: MentorLoss(total_steps=9, samples=50, clean_index=range(20)).weigh(torch.ones(4), index=index), "give logits (B, K), not losses"),
    "by class without labels": (lambda: MentorLoss("pd", 9, by_class=3)(losses=torch.ones(4)), "labels are missing: by_class reads them"),
    "by class, a label beyond": (lambda: MentorLoss("pd", 9, by_class=2)(logits, labels), "by_class knows labels 0–1, got 0 to 2"),
    "by class, images of labels": (lambda: MentorLoss("pd", 9, by_class=3)(logits[:, :, None], labels[:, None]), "by_class needs one label per sample"),
    "a mentor of fewer labels": (lambda: MentorLoss(make_mentor("mlp", num_classes=2), 9)(logits, labels), "this mentor knows labels 0–1, got 0 to 2"),
    "labels of float, weighed": (lambda: MentorLoss("pd", 9).weigh(torch.ones(4), labels.float()), "labels must be int64, got torch.float32"),
    "a misspelt mentor": (lambda: MentorLoss("atuo", 9), "no mentor 'atuo': it is neither a folder nor a known name; did you mean 'auto'?"),
    "a misspelt DD mentor": (lambda: MentorLoss("dd-cifar10-4", 9), "did you mean 'dd-cifar10-40'?"),
    "an empty folder": (lambda: MentorLoss("tests", 9), "config.json"),
    "label smoothing 10": (lambda: MentorLoss(total_steps=9, label_smoothing=10), "label_smoothing must be in [0, 1], got 10"),
    "one class": (lambda: MentorLoss(total_steps=9, by_class=1), "by_class must be the number of classes, ≥ 2, got 1"),
    "history without samples": (lambda: MentorLoss(make_mentor("mlp", history=2), 9), "a history needs the number of samples"),
    "explicit without samples": (lambda: MentorLoss(make_curriculum("pd"), 9, explicit=True), "explicit SPADE needs the number of samples"),
    "explicit with a mentor": (lambda: MentorLoss("pd", 9, samples=4, explicit=True), "explicit SPADE needs a curriculum of known G"),
    "clean without samples": (lambda: MentorLoss(total_steps=9, clean_index=range(20)), "verdicts need the size of the training set"),
    "clean twice": (lambda: MentorLoss(total_steps=9, samples=50, clean_index=[*range(20), 3]), "verified sample 3 is listed twice"),
    "clean unknown": (lambda: MentorLoss(total_steps=9, samples=15, clean_index=range(20)), "verified sample 15 is not one of the 15"),
    "verified too few": (lambda: MentorLoss(total_steps=9, samples=15).learn_from([1], [True]), "cannot be learned from 1 verified samples"),
    "verdicts of 0 and 1": (lambda: MentorLoss(total_steps=9, samples=15).learn_from(range(12), torch.ones(12).long()), "verdicts must be boolean, got torch.int64"),
    "updates fall": (lambda: MentorLoss(total_steps=9, samples=50, clean_index=range(20), updates=(0.5, 0.2)), "updates must rise"),
    "nothing": (loss, "give either logits and labels, or losses="),
    "both": (lambda: loss(logits, labels, losses=torch.ones(4)), "give either logits and labels, or losses="),
    "no labels": (lambda: loss(logits), "labels are missing: criterion(logits, labels)"),
    "label 3 of 3": (lambda: loss(logits, labels + 1), "label 3 is not one of the 3 classes 0–2"),
    "label -99": (lambda: loss(logits, labels - 100), "label -99 is not one of the 3 classes 0–2; -100 marks what has no label"),
    "labels of int32": (lambda: loss(logits, labels.int()), "labels must be int64, got torch.int32; use labels.long()"),
    "labels of float": (lambda: loss(logits, labels.float()), "labels must be class numbers (int64), got torch.float32 of shape (4,)"),
    "soft labels": (lambda: loss(logits, logits.softmax(1)), "for soft labels give losses=F.cross_entropy(…, reduction='none')"),
    "too few labels": (lambda: loss(logits, labels[:3]), "logits of shape (4, 3) need labels of shape (4,), got (3,)"),
    "labels of one pixel": (lambda: loss(logits[:, :, None], labels), "need labels of shape (4, 1), got (4,)"),
    "flat logits": (lambda: loss(logits[:, 0], labels), "logits must be floating point of shape (B, K)"),
    "a list": (lambda: loss(logits, labels.tolist()), "logits and labels must be tensors, got Tensor and list"),
    "an empty batch": (lambda: loss(logits[:0], labels[:0]), "of shape (0, 3)"),
    "a mean": (lambda: loss(losses=torch.tensor(1.0)), "losses must be one per sample, got a scalar; use reduction='none'"),
    "no losses": (lambda: loss(losses=torch.ones(0)), "losses are empty"),
    "whole losses": (lambda: loss(losses=torch.ones(3).long()), "losses must be a floating point tensor, got torch.int64"),
    "labels of another batch": (lambda: MentorLoss("pd", 9).weigh(torch.ones(4), labels[:2]), "labels must have the shape of losses (4,), got (2,)"),
    "index missing": (lambda: loss(logits, labels, samples=9), "index is missing: with samples= each call must name its samples"),
    "index missing for a history": (looking_back, "index is missing"),
    "index out of range": (lambda: loss(logits, labels, index=index + 6, samples=9), "index 9 is not one of the 9 samples 0–8"),
    "index negative": (lambda: loss(logits, labels, index=index - 1, samples=9), "index -1 is not one of the 9"),
    "index repeated": (lambda: loss(logits, labels, index=index // 2, samples=9), "index 0 occurs twice in one batch"),
    "index too short": (lambda: loss(logits, labels, index=index[:2], samples=9), "index must name each of the 4 samples, got shape (2,)"),
    "index of float": (lambda: loss(logits, labels, index=index.float(), samples=9), "index must be a tensor of whole numbers, got torch.float32"),
    "all NaN": (lambda: loss(logits * NAN, labels), "all 4 losses of the batch are NaN or infinite, at step 0; did the student diverge?"),
    "all infinite losses": (lambda: loss(losses=torch.full((3,), INF)), "all 3 losses of the batch are NaN or infinite"),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_says_what_is_wrong(case: str) -> None:
    call, message = CALLS[case]
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("form", ["logits", "losses"])
def test_a_sample_that_is_no_number_has_weight_0_and_is_counted(value: float, form: str) -> None:
    criterion = MentorLoss("uniform", 10, 0.0, samples=4)
    broken = logits.clone()
    broken[1, labels[1]] = value
    broken.requires_grad_()
    each = F.cross_entropy(logits, labels, reduction="none").where(index != 1, value)
    inputs = {"logits": broken, "labels": labels} if form == "logits" else {"losses": each}
    with pytest.warns(UserWarning, match="1 of 4 losses are NaN or infinite; their weight is 0"):
        total = criterion(**inputs, index=index)
    rest = F.cross_entropy(logits, labels, reduction="none")[[0, 2, 3]]
    torch.testing.assert_close(total, rest.sum() / 4)
    assert criterion.weights.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert criterion.metrics()["bad_samples"] == 1.0
    if form == "logits":
        (gradient,) = torch.autograd.grad(total, broken)
        assert gradient.isfinite().all()
        assert not gradient[1].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        criterion(broken.detach(), labels, index=index)
    assert criterion.metrics()["bad_samples"] == 2.0


def test_a_sample_that_is_no_number_leaves_no_trace() -> None:
    """In the loss level, the noise rate, the history and the stored v, it is as if not there."""
    broken = logits.clone()
    broken[1] = NAN
    whole, rest = MentorLoss("pd", 10, 0.0), MentorLoss("pd", 10, 0.0)
    others = torch.tensor([0, 2, 3])
    with pytest.warns(UserWarning, match="their weight is 0"):
        whole(broken, labels)
    rest(logits[others], labels[others])
    assert torch.equal(whole.engine.level.value, rest.engine.level.value)
    assert torch.equal(whole.noise.recent.counts[0], rest.noise.recent.counts[0])
    explicit = MentorLoss(make_curriculum("pd"), 10, 0.0, samples=4, explicit=True)
    with pytest.warns(UserWarning, match="their weight is 0"):
        explicit(broken, labels, index=index)
    assert explicit.engine.stored is not None
    assert explicit.engine.stored[1] == 1.0
    back = MentorLoss(make_mentor("bilstm", history=3), 10, 0.0, samples=4)
    back(logits, labels, index=index)
    assert back.engine.history is not None
    before = back.engine.history.window[1].clone()
    with pytest.warns(UserWarning, match="their weight is 0"):
        back(broken, labels, index=index)
    assert torch.equal(back.engine.history.window[1], before)
    assert back.records is not None
    assert back.records.predicted_label[1] == -1
    assert back(logits, labels, index=index).isfinite()


def test_minus_infinity_on_another_class_is_a_mask_and_fine() -> None:
    masked = logits.clone()
    masked[:, 2] = -INF
    masked.requires_grad_()
    given = torch.tensor([0, 1, 1, 0])
    criterion = MentorLoss("uniform", 10, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = criterion(masked, given)
    assert torch.equal(total, F.cross_entropy(masked, given))
    (gradient,) = torch.autograd.grad(total, masked)
    assert gradient.isfinite().all()


def test_more_steps_than_said_go_on_at_progress_99_and_warn_once() -> None:
    criterion = MentorLoss("pd", 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            criterion(logits, labels)
    with pytest.warns(UserWarning, match="more often than total_steps=3; progress stays at 99"):
        criterion(logits, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        criterion(logits, labels)
    assert criterion.engine.progress == 99
    restored = MentorLoss("pd", 3)
    restored.load_state_dict(criterion.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored(logits, labels)


def test_a_state_of_another_kind_is_refused() -> None:
    state = MentorLoss(total_steps=9, samples=4).state_dict()
    with pytest.raises(RuntimeError, match=r"records\.loss"):
        MentorLoss(total_steps=9).load_state_dict(state)
