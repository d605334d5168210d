"""Elements that share one weight, such as the tokens of a word."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mentornet import MentorLoss
from mentornet.randomness import generator

# Two sentences of four tokens: "un|believ|able news" and "no news" with two tokens of padding.
GROUPS = torch.tensor([[0, 0, 0, 1], [0, 1, -1, -1]])
LABELS = torch.tensor([[2, 2, 2, 1], [0, 1, -100, -100]])


def logits() -> torch.Tensor:
    return (3 * torch.randn(2, 4, 3, generator=generator(0))).requires_grad_()


def test_the_tokens_of_a_word_have_the_weight_of_their_mean_loss() -> None:
    z = logits()
    each = F.cross_entropy(z.transpose(1, 2), LABELS, reduction="none").detach()
    words = torch.stack([each[0, :3].mean(), each[0, 3], each[1, 0], each[1, 1]])
    criterion, of_words = (MentorLoss("pd", 9, 0.0, level="token") for _ in "ab")
    loss = criterion(z, LABELS, groups=GROUPS)
    v = of_words.weigh(words[None])[0]
    expected = torch.tensor([[v[0], v[0], v[0], v[1]], [v[2], v[3], 0.0, 0.0]])
    torch.testing.assert_close(criterion.weights, expected)
    torch.testing.assert_close(loss, (expected * each).sum() / 6)


def test_weights_of_1_are_the_plain_loss() -> None:
    z, criterion = logits(), MentorLoss("uniform", 9, 0.0, level="token")
    plain = F.cross_entropy(z.flatten(0, 1), LABELS.flatten())
    assert torch.equal(criterion(z, LABELS, groups=GROUPS), plain)


def test_records_are_of_words() -> None:
    """The label of a word is that of its first labelled token."""
    criterion = MentorLoss("uniform", 9, 0.0, level="token", samples=2, elements=[2, 2])
    labels = LABELS.clone()
    labels[0, 0] = -100
    labels[0, 2] = 1
    z = logits()
    criterion(z, labels, groups=GROUPS, index=torch.arange(2))
    assert criterion.records is not None
    assert criterion.records.given_label.tolist() == [2, 1, 0, 1, -1]
    each = F.cross_entropy(z.transpose(1, 2), labels, reduction="none")
    assert criterion.records.loss[0].item() == pytest.approx(each[0, 1:3].mean().item())
    predicted = z.argmax(2)
    expected = [predicted[0, 1], predicted[0, 3], predicted[1, 0], predicted[1, 1]]
    assert criterion.records.predicted_label[:4].tolist() == [int(one) for one in expected]
