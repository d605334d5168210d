"""Every mistake with levels finer than a sample, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from mentornet import MentorLoss, MentorNetError

logits, labels = torch.zeros(2, 3, 4), torch.zeros(2, 3).long()
index = torch.arange(2)


def token(*inputs: Any, elements: Any = None, **options: Any) -> Any:
    samples = None if elements is None else 2
    return MentorLoss(total_steps=9, level="token", samples=samples, elements=elements)(
        *inputs, **options
    )


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "another level": (lambda: MentorLoss(total_steps=9, level="tokens"), "level must be a name, got 'tokens'; did you mean 'token'?"),
    "elements of samples": (lambda: MentorLoss(total_steps=9, samples=3, elements=3), "at level='sample' it has one"),
    "elements of nothing": (lambda: MentorLoss(total_steps=9, level="token", elements=3), "elements= needs samples="),
    "no elements": (lambda: MentorLoss(total_steps=9, level="token", samples=3, elements=0), "a whole number ≥ 1 or one for each sample, got 0"),
    "elements of fewer samples": (lambda: MentorLoss(total_steps=9, level="token", samples=3, elements=[1, 2]), "one number ≥ 0 for each of the 3 samples, got torch.int64 of shape (2,)"),
    "negative elements": (lambda: MentorLoss(total_steps=9, level="token", samples=2, elements=[1, -2]), "with -2"),
    "too many elements": (lambda: MentorLoss(total_steps=9, level="pixel", samples=10**6, elements=10**4), "10,000,000,000 elements, more than"),
    "verdicts on no elements": (lambda: MentorLoss(total_steps=9, level="token", samples=50).learn_from(range(20), torch.ones(20).bool()), "verdicts are on elements: give elements="),
    "verdicts beyond": (lambda: MentorLoss(total_steps=9, level="token", samples=5, elements=3).learn_from(range(20), torch.ones(20).bool()), "verified sample 15 is not one of the 15"),
    "more than elements": (lambda: token(logits, labels, elements=[3, 2], index=index), "sample 1 has 2 elements by elements=, but its element 2, counted from 0, has a label too"),
    "no index": (lambda: token(logits, labels, elements=3), "index is missing"),
    "one label too few": (lambda: token(logits, labels[:, :2]), "logits of shape (2, 3, 4) have 2 × 3 tokens, but labels have shape (2, 2): every token needs a label, -100 where it has none"),
    "labels in a list": (lambda: token(logits, labels.tolist()), "logits and labels must be tensors"),
    "flat tokens": (lambda: token(logits[0], labels[0]), "level='token' needs logits of shape (B, T, K), got (3, 4); if every row is a token, use level='sample'"),
    "all -100": (lambda: token(logits, labels - 100), "all 6 labels of the first batch are -100, so there is nothing to learn"),
    "tag 4 of 4": (lambda: token(logits, labels + 4), "label 4 is not one of the 4 classes 0–3; -100 marks what has no label"),
    "groups of samples": (lambda: MentorLoss(total_steps=9)(logits[0], labels[0], groups=labels[0]), "groups= joins tokens or pixels, but level is 'sample'"),
    "groups of other tokens": (lambda: token(logits, labels, groups=labels[:, :2]), "groups must have the shape of labels (2, 3), got (2, 2)"),
    "groups of floats": (lambda: token(logits, labels, groups=labels.float()), "groups must be a tensor of whole numbers (int64), got torch.float32"),
    "no group": (lambda: token(logits, labels, groups=labels - 1), "group -1 is that of a place with label 0; only places without a label"),
    "group 3 of 3": (lambda: token(logits, labels, groups=labels + 3), "group 3 is not one of the 3 that 3 places of a sample can have"),
    "tokens at level sample": (lambda: MentorLoss(total_steps=9)(logits, labels), "look like tokens (B, T, K): use MentorLoss(level='token')"),
    "as many tokens as tags": (lambda: MentorLoss(total_steps=9)(logits[:, :, :3], labels), "may be (B, T, K) or (B, K, T): use MentorLoss(level='token') or level='text' for the first"),
    "classes last": (lambda: MentorLoss(total_steps=9, level="pixel")(torch.zeros(2, 5, 6, 3), torch.zeros(2, 5, 6).long()), "classes must be in dimension 1: give logits.movedim(-1, 1)"),
    "no image": (lambda: MentorLoss(total_steps=9, level="pixel")(logits[0], labels[0]), "level='pixel' needs logits of shape (B, K, H, W)"),
    "one class a sample": (lambda: MentorLoss(total_steps=9, level="class")(logits[0], labels[0]), "needs a label of 0 or 1 for each sample and class, (3, 4), got (3,); for one class a sample use level='sample'"),
    "half a label": (lambda: MentorLoss(total_steps=9, level="class")(logits[0], logits[0] + 0.5), "labels must be 0 or 1, or -100 for none, at level='class', got 0.5"),
    "several classes at level sample": (lambda: MentorLoss(total_steps=9)(logits[0], logits[0]), "for several classes a sample use level='class'"),
    "smoothing of pairs": (lambda: MentorLoss(total_steps=9, level="class", label_smoothing=0.1), "label_smoothing is for levels sample, token and pixel"),
    "history of no elements": (lambda: MentorLoss("pd", 9, level="token", samples=3, clean_index=range(3)), "give elements="),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_says_what_is_wrong(case: str) -> None:
    call, message = MISTAKES[case]
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()
