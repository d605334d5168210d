"""Weights finer than a sample: of tokens, pixels, and pairs of sample and class."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mentornet import MentorLoss
from mentornet.randomness import generator

B, T, K = 5, 7, 4
SHAPES = {
    "token": ((B, T, K), (B, T)),
    "pixel": ((B, K, 3, 6), (B, 3, 6)),
    "class": ((B, K), (B, K)),
}


def batch(level: str, *, unlabelled: bool = False, seed: int = 0) -> tuple[Tensor, Tensor]:
    draw = generator(seed)
    of_logits, of_labels = SHAPES[level]
    logits = torch.randn(of_logits, generator=draw) * 3
    labels = torch.randint(2 if level == "class" else K, of_labels, generator=draw)
    if unlabelled:
        labels[torch.rand(of_labels, generator=draw) < 0.3] = -100
    return logits.requires_grad_(), labels


def plain(level: str, logits: Tensor, labels: Tensor) -> Tensor:
    """As torch has it: flattened tokens, images of labels, and 0 or 1 of each class."""
    if level == "token":
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())
    if level == "pixel":
        return F.cross_entropy(logits, labels)
    labelled = labels != -100
    return F.binary_cross_entropy_with_logits(logits[labelled], labels[labelled].to(logits.dtype))


@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize("level", SHAPES)
def test_weights_of_1_are_the_plain_loss(level: str, unlabelled: bool) -> None:
    """Bit for bit, but for pairs without a label, which torch's binary loss does not know."""
    criterion = MentorLoss("uniform", total_steps=100, burn_in=0.0, level=level)
    for seed in range(3):
        logits, labels = batch(level, unlabelled=unlabelled, seed=seed)
        ours, expected = criterion(logits, labels), plain(level, logits, labels)
        (gradient,) = torch.autograd.grad(ours, logits)
        (wanted,) = torch.autograd.grad(expected, logits)
        if level == "class" and unlabelled:
            torch.testing.assert_close(ours, expected)
            torch.testing.assert_close(gradient, wanted)
        else:
            assert torch.equal(ours, expected)
            assert torch.equal(gradient, wanted)
        assert torch.equal(criterion.eval()(logits, labels), ours)
        criterion.train()
