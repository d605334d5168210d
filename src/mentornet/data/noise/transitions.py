"""Transition matrices, and the given labels that are drawn from them.

A transition matrix T of K classes has T[i, j] = P(given label j | true label i), so its rows
sum to 1. Every kind of noise is such a matrix, except `instance`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.randomness import generator

__all__ = ["asymmetric", "corrupt", "instance", "pairflip", "symmetric", "uniform"]

CIFAR10_CONFUSIONS = {
    "truck": "automobile",
    "bird": "airplane",
    "deer": "horse",
    "cat": "dog",
    "dog": "cat",
}
"""The usual asymmetric map of CIFAR-10 (Patrini et al. 2017): similar classes are confused."""


def uniform(classes: int, rate: float) -> Tensor:
    """T = (1 − p) I + p/K: with probability p a class drawn from all K, the true one included.

    This is the noise of the paper (§5.1). A share p (1 − 1/K) of the labels becomes wrong.

    >>> uniform(4, 0.4)[0]
    tensor([0.7000, 0.1000, 0.1000, 0.1000], dtype=torch.float64)
    """
    return torch.eye(classes, dtype=torch.float64) * (1 - rate) + rate / classes


def symmetric(classes: int, rate: float) -> Tensor:
    """With probability p one of the K − 1 wrong classes, so a share p of the labels is wrong.

    >>> symmetric(5, 0.4)[0]
    tensor([0.6000, 0.1000, 0.1000, 0.1000, 0.1000], dtype=torch.float64)
    """
    wrong = rate / (classes - 1)
    return torch.eye(classes, dtype=torch.float64) * (1 - rate - wrong) + wrong


def pairflip(classes: int, rate: float) -> Tensor:
    """With probability p the next class; the first class follows the last.

    >>> pairflip(3, 0.4)[2]
    tensor([0.4000, 0.0000, 0.6000], dtype=torch.float64)
    """
    identity = torch.eye(classes, dtype=torch.float64)
    return identity * (1 - rate) + identity.roll(1, dims=1) * rate


def asymmetric(classes: Sequence[str], rate: float, groups: Tensor | None = None) -> Tensor:
    """With probability p the class that the true class is usually mistaken for.

    If the classes have `groups` (the superclasses of CIFAR-100), that is the next class of the
    same group. For the classes of CIFAR-10 there are five pairs. Other data has no usual map.

    >>> names = ("automobile", "airplane", "bird", "truck", "deer", "horse", "cat", "dog")
    >>> asymmetric(names, 0.4)[2]
    tensor([0.0000, 0.4000, 0.6000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
           dtype=torch.float64)
    """
    target = torch.arange(len(classes))
    if groups is not None:
        for group in groups.unique():
            members = (groups == group).nonzero().flatten()
            target[members] = members.roll(-1)
    elif {*CIFAR10_CONFUSIONS, *CIFAR10_CONFUSIONS.values()} <= set(classes):
        for true, mistaken in CIFAR10_CONFUSIONS.items():
            target[classes.index(true)] = classes.index(mistaken)
    else:
        raise MentorNetError(
            "asymmetric noise is known for cifar10 and cifar100 only; "
            "give a transition matrix, or use pairflip"
        )
    identity = torch.eye(len(classes), dtype=torch.float64)
    return identity * (1 - rate) + identity[target] * rate


def corrupt(true_label: Tensor, transition: Tensor, *, seed: int) -> Tensor:
    """Given labels `(N,)`, each drawn from the row of T that belongs to its true label.

    Args:
        true_label: `(N,)`, integer.
        transition: T, `(K, K)`.
        seed: fixes the draw.
    """
    _check_transition(transition, true_label)
    draws = torch.rand(len(true_label), generator=generator(seed), dtype=torch.float64)
    cumulated, given = transition.cumsum(1).double(), torch.empty_like(true_label)
    members = true_label.argsort().split(true_label.bincount(minlength=len(transition)).tolist())
    for row, those in zip(cumulated, members, strict=True):  # by class: N × K may not fit
        given[those] = torch.searchsorted(row, draws[those], right=True).to(given.dtype)
    return given.clamp(max=len(transition) - 1)


def instance(
    true_label: Tensor, features: Tensor, classes: int, rate: float, *, seed: int
) -> Tensor:
    """Noise that depends on the sample (Xia et al. 2020, Algorithm 2), with rate p on average.

    Each sample x of class y has its own flip rate q, drawn from a normal distribution around p
    that is cut to [0, 1]. Its wrong label is drawn from the other classes by softmax(xᵀ W_y),
    where W is random. The standard deviation is 0.1, but at most half of the distance from p to
    0 or to 1, so that the cut hardly moves the mean.

    Args:
        true_label: `(N,)`, integer.
        features: x, `(N, …)`, any dtype; each row is flattened and standardised.
        classes: K.
        rate: p.
        seed: fixes W, q and the draw.
    """
    draw = generator(seed)
    count = len(true_label)
    flip = torch.zeros(count, dtype=torch.float64)
    spread = min(0.1, rate / 2, (1 - rate) / 2)
    if spread > 0:
        flip = torch.nn.init.trunc_normal_(flip, rate, spread, 0.0, 1.0, generator=draw)
    else:
        flip += rate
    flat = features.flatten(1).float()
    flat = (flat - flat.mean(1, keepdim=True)) / flat.std(1, keepdim=True).clamp(min=1e-6)
    chances = torch.empty(count, classes, dtype=torch.float64)
    for label in range(classes):
        projection = torch.randn(flat.shape[1], classes, generator=draw)
        members = true_label == label
        scores = (flat[members] @ projection).double()
        scores[:, label] = -torch.inf
        chances[members] = scores.softmax(1)
    chances *= flip[:, None]
    chances[torch.arange(count), true_label] = 1 - flip
    return _draw(chances, torch.rand(count, generator=draw, dtype=torch.float64))


def _draw(chances: Tensor, draws: Tensor) -> Tensor:
    """One class for each row: the first whose cumulated chance exceeds the draw."""
    reached = chances.cumsum(1) <= draws[:, None]
    return reached.sum(1).clamp(max=chances.shape[1] - 1)


def _check_transition(transition: Tensor, true_label: Tensor) -> None:
    shape = tuple(transition.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise MentorNetError(f"a transition matrix must be (K, K), got {shape}")
    sums = transition.sum(1)
    if (transition < 0).any() or not torch.allclose(sums, torch.ones_like(sums)):
        raise MentorNetError(
            "the rows of a transition matrix must be ≥ 0 and sum to 1, "
            f"got sums from {sums.min():g} to {sums.max():g}"
        )
    if len(true_label) and not 0 <= int(true_label.min()) <= int(true_label.max()) < shape[0]:
        raise MentorNetError(
            f"labels must be in 0–{shape[0] - 1} for a {shape[0]} × {shape[0]} transition matrix, "
            f"got {int(true_label.min())} to {int(true_label.max())}"
        )
