"""Metrics: accuracy and the area under the ROC curve."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["auroc", "top_k_accuracy"]


def top_k_accuracy(logits: Tensor, label: Tensor, k: int = 1) -> float:
    """Return the share of samples whose label is among the k highest logits.

    Args:
        logits: the logits, `(N, K)`.
        label: the labels to compare with, `(N,)`.
        k: how many of the highest logits count, 1–K.

    >>> top_k_accuracy(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1]))
    0.5
    """
    if not 1 <= k <= logits.shape[1]:
        raise MentorNetError(f"k must be in 1–{logits.shape[1]}, got {k}")
    guesses = logits.topk(k, dim=1).indices
    return (guesses == label[:, None]).any(1).double().mean().item()


def auroc(score: Tensor, positive: Tensor) -> float:
    """Return P(score of a positive > score of a negative), where ties count half; 0.5 is chance.

    It is (R₊ − n₊ (n₊ + 1)/2) / (n₊ n₋), where R₊ is the sum of the ranks of the positives, and
    equal scores share their mean rank.

    Args:
        score: the scores, `(N,)`, such as the weights v.
        positive: which samples are positive, `(N,)`, boolean, such as those with a correct label.

    >>> auroc(torch.tensor([0.9, 0.2, 0.7]), torch.tensor([True, False, True]))
    1.0
    """
    if positive.dtype != torch.bool or positive.shape != score.shape:
        raise MentorNetError(
            f"positive must be boolean of shape {tuple(score.shape)}, "
            f"got {positive.dtype} of shape {tuple(positive.shape)}"
        )
    wins = int(positive.sum())
    losses = len(positive) - wins
    if not wins or not losses:
        raise MentorNetError(f"auroc needs both kinds, got {wins} positive and {losses} negative")
    _, group, count = score.unique(return_inverse=True, return_counts=True)
    last = count.cumsum(0).double()
    mean_rank = last - (count.double() - 1) / 2
    rank_sum = mean_rank[group][positive].sum().item()
    return (rank_sum - wins * (wins + 1) / 2) / (wins * losses)
