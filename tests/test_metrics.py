from __future__ import annotations

import re

import pytest
import torch
from sklearn.metrics import roc_auc_score

from mentornet import MentorNetError
from mentornet.metrics import auroc, top_k_accuracy
from mentornet.randomness import generator


@pytest.mark.parametrize("levels", [3, 10_000])
def test_auroc_by_counting_all_pairs(levels: int) -> None:
    """Few levels make many ties."""
    score = torch.randint(levels, (200,), generator=generator(0)).double()
    positive = torch.rand(200, generator=generator(1)) < 0.3
    won = 0.0
    for one in score[positive].tolist():
        for other in score[~positive].tolist():
            won += 1.0 if one > other else 0.5 if one == other else 0.0
    expected = won / (int(positive.sum()) * int((~positive).sum()))
    assert auroc(score, positive) == pytest.approx(expected)
    assert auroc(score, positive) == pytest.approx(roc_auc_score(positive, score))


def test_top_k_accuracy_by_hand() -> None:
    logits = torch.randn(100, 7, generator=generator(0))
    label = torch.randint(7, (100,), generator=generator(1))
    for k in (1, 3, 7):
        hits = 0
        for row, truth in zip(logits.tolist(), label.tolist(), strict=True):
            best = sorted(range(7), key=lambda j, row=row: -row[j])[:k]  # type: ignore[misc]
            hits += truth in best
        assert top_k_accuracy(logits, label, k) == pytest.approx(hits / 100)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auroc(torch.ones(3), torch.ones(3)), "positive must be boolean"),
        (lambda: auroc(torch.ones(3), torch.ones(3) > 0), "got 3 positive and 0 negative"),
        (lambda: top_k_accuracy(torch.ones(1, 2), torch.tensor([0]), 5), "k must be in 1–2, got 5"),
    ],
)
def test_mistake(call: object, message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()  # type: ignore[operator]
