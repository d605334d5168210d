"""Level "text": all tokens of a text share a weight, by the mean of their losses."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mentornet import MentorLoss, MentorNetError
from mentornet.randomness import generator
from mentornet.weighting.text_scale import TextScale

B, T, K = 4, 6, 6  # as many tokens as classes, which level "sample" refuses


def batch(seed: int = 0) -> tuple[Tensor, Tensor]:
    draw = generator(seed)
    logits = torch.randn(B, T, K, generator=draw) * 2
    labels = torch.randint(K, (B, T), generator=draw)
    labels[torch.rand(B, T, generator=draw) < 0.3] = -100
    return logits.requires_grad_(), labels


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("items", [None, 37])
def test_weights_of_1_are_the_plain_loss_bit_for_bit(items: int | None, smoothing: float) -> None:
    criterion = MentorLoss(
        "uniform", total_steps=9, burn_in=0.0, level="text", label_smoothing=smoothing
    )
    logits, labels = batch()
    ours = criterion(logits, labels, items=items)
    given = {"reduction": "mean" if items is None else "sum", "label_smoothing": smoothing}
    plain = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), **given) / (items or 1)  # type: ignore[arg-type]
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in (ours, plain)]
    if smoothing:
        torch.testing.assert_close(ours, plain)
        torch.testing.assert_close(*gradients)
    else:
        assert torch.equal(ours, plain)
        assert torch.equal(*gradients)


def test_the_mean_over_labelled_tokens_decides_and_all_labels_divide() -> None:
    """Σ v ℓ over tokens, in plain loops."""
    criterion = MentorLoss("pd", total_steps=9, burn_in=0.0, level="text", samples=9)
    logits, labels = batch()
    loss = criterion(logits, labels, index=torch.tensor([8, 2, 3, 0]))
    means, total, count = [], 0.0, 0
    for text, given, weight in zip(
        logits.tolist(), labels.tolist(), criterion.weights.tolist(), strict=True
    ):
        losses = [
            math.log(sum(map(math.exp, scores))) - scores[label]
            for scores, label in zip(text, given, strict=True)
            if label != -100
        ]
        means.append(sum(losses) / len(losses))
        total += weight * sum(losses)
        count += len(losses)
    assert loss.item() == pytest.approx(total / count, rel=1e-5)
    assert len(criterion.weights) == B
    assert criterion.weights.argmin() == torch.tensor(means).argmax()
    assert criterion.records is not None
    assert criterion.records.loss[[8, 2, 3, 0]].tolist() == pytest.approx(means, rel=1e-5)


def test_a_text_that_is_not_a_number_or_has_no_label_spoils_nothing() -> None:
    criterion = MentorLoss("uniform", total_steps=9, burn_in=0.0, level="text", samples=B)
    logits, labels = batch()
    values = logits.detach().clone()
    labels[0, 2], labels[2] = 1, -100
    values[0, 2] = torch.nan
    values[1, labels[1] == -100] = torch.nan  # such a token does not matter
    logits = values.requires_grad_()
    with pytest.warns(UserWarning, match="1 of 4 losses are NaN or infinite"):
        loss = criterion(logits, labels, index=torch.arange(B))
    loss.backward()
    kept = [1, 3]
    sums = F.cross_entropy(
        values[kept].nan_to_num().flatten(0, 1), labels[kept].flatten(), reduction="sum"
    )
    assert loss.item() == pytest.approx(sums.item() / (labels != -100).sum().item(), rel=1e-6)
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert not logits.grad[[0, 2]].any()
    assert criterion.records is not None
    assert criterion.records.loss.isnan().tolist() == [True, False, True, False]


def test_the_scale_follows_the_mean() -> None:
    """x = 2 ℓ / m, and m moves by 2 % of the way at each step."""
    scale, mean = TextScale(), 2.0
    assert scale(torch.tensor([1.0, 3.0])).tolist() == [1.0, 3.0]
    for _ in range(3):
        mean += 0.02 * (0.2 - mean)
        assert scale(torch.tensor([0.1, 0.3]))[0].item() == pytest.approx(0.2 / mean)
    assert scale(torch.tensor([torch.nan])).isnan().all()
    assert scale.mean.item() == pytest.approx(mean)
    losses = torch.tensor([mean, mean / 2, 3 * mean, 0.0])
    expected = [0.0, 2 * math.log(2), -2 * math.log(3), 4.0]
    assert scale.margins(losses).tolist() == pytest.approx(expected, abs=1e-6)


def test_what_a_text_cannot_have() -> None:
    logits, labels = batch()
    with pytest.raises(MentorNetError, match="elements= says how many elements a sample has"):
        MentorLoss(total_steps=9, level="text", samples=B, elements=T)
    with pytest.raises(MentorNetError, match="by_class needs one label per sample"):
        MentorLoss(total_steps=9, level="text", by_class=K)(logits, labels)
    with pytest.raises(MentorNetError, match="or level='text' for the first"):
        MentorLoss(total_steps=9)(logits, labels)
    with pytest.raises(MentorNetError, match="groups= joins tokens or pixels"):
        MentorLoss(total_steps=9, level="text")(logits, labels, groups=labels)
