"""The true class of each sample, from what a student predicts and from the given label.

A wrong label depends on the true class: T[k, j] = P(given label j | true class k). The student
gives p(k), the probability of class k before the label is known. Bayes' rule then gives, for a
sample with given label y,

    r(k) = p(k) T[k, y] / Σ_l p(l) T[l, y],

and r(y) is the probability that the label is correct. T is not known, but it follows from r:
T[k, j] is the share of the given label j among the samples of class k. So both are computed in turn
(expectation maximisation, as Dawid and Skene did in 1979 for the errors of several observers).

The predictions must be honest: a student that has memorised a wrong label calls it correct. Use
predictions of students that were not trained on the sample (out-of-fold predictions).
Shapes: N samples, K classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = [
    "LabelPosterior",
    "bayes",
    "confident_start",
    "fitted",
    "label_posterior",
    "transition_of",
]

_LEAST = 1e-6  # the smallest probability
_PRIOR = 2.0  # samples that each row of T has in advance …
_CORRECT = 0.8  # … of which this share is correct, and the rest is spread over all classes
_ROUNDS = 20  # of expectation maximisation
_EXPONENTS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@dataclass(frozen=True, eq=False)
class LabelPosterior:
    """What is known of the true classes.

    Attributes:
        true: r, the probability of each class, `(N, K)`; rows sum to 1.
        given_label: the given labels, `(N,)`.
        transition: T, `(K, K)`; rows sum to 1.
        exponent: predictions were raised to this power (and scaled to sum 1) to fit the labels
            best. Below 1 they were too sure, above 1 not sure enough.
    """

    true: Tensor
    given_label: Tensor
    transition: Tensor
    exponent: float

    @property
    def right(self) -> Tensor:
        """The probability that each given label is correct, `(N,)`."""
        return self.true.gather(1, self.given_label[:, None])[:, 0]

    @property
    def noise_rate(self) -> Tensor:
        """The expected share of wrong labels, 1 − mean of r(y), a scalar."""
        return 1 - self.right.mean()

    @property
    def suggested(self) -> Tensor:
        """The most probable class of each sample, `(N,)`."""
        return self.true.argmax(1)


def label_posterior(
    probabilities: Tensor,
    given_label: Tensor,
    *,
    transition: Tensor | None = None,
    known: Tensor | None = None,
) -> LabelPosterior:
    """Return the probability of each true class, and T, both found by expectation maximisation.

    Args:
        probabilities: p, honest predictions, `(N, K)`, of a student that follows correct labels
            more than wrong ones.
        given_label: y, `(N,)`, in 0–K−1.
        transition: the first T, `(K, K)`; by default that of `confident_start`.
        known: the true class where somebody has said it, else −1, `(N,)`. It counts for T, but not
            for the r of its own sample, so r can be compared with it.

    >>> p = torch.tensor([[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 8)
    >>> label = torch.tensor([0] * 7 + [1] + [1] * 7 + [0])
    >>> label_posterior(p, label).right.round(decimals=1).tolist()[6:9]
    [1.0, 0.0, 1.0]
    """
    p, label = _checked(probabilities, given_label)
    start = confident_start(p, label)[0] if transition is None else transition.to(p)
    p, exponent = fitted(p, label, start)  # once: later, p that is too sure would explain T away
    t = start
    said = None if known is None else (known >= 0, torch.eye(p.shape[1]).to(p)[known.clamp(min=0)])
    for _ in range(_ROUNDS):
        r = bayes(p, label, t)
        t = transition_of(r if said is None else torch.where(said[0][:, None], said[1], r), label)
    return LabelPosterior(bayes(p, label, t), label, t, exponent)


def transition_of(true: Tensor, given_label: Tensor) -> Tensor:
    """Return T from the probability of each true class, `(N, K)`, and the given labels, `(N,)`.

    A few samples are added in advance, most of them correct, so that rare classes have rows too.

    >>> transition_of(torch.eye(2).repeat(9, 1), torch.tensor([0, 1]).repeat(9))[0]
    tensor([0.9818, 0.0182])
    """
    classes = true.shape[1]
    counts = torch.zeros(classes, classes).to(true).index_add(1, given_label, true.T)
    prior = torch.eye(classes).to(true) * _CORRECT + (1 - _CORRECT) / classes
    counts = counts + _PRIOR * prior
    return counts / counts.sum(1, keepdim=True)


def confident_start(probabilities: Tensor, given_label: Tensor) -> tuple[Tensor, Tensor]:
    """Return a first T, and first weights `(N,)`, from a student that has learned all labels.

    Such a student predicts the given labels, wrong ones included, so p alone would explain them.
    But it is more sure of a class where the labels agree with their neighbours. As in confident
    learning (Northcutt et al. 2021), a sample is counted as class k if p(k) reaches the mean of
    p(k) over the samples with given label k. A label that contradicts such a class has weight 0;
    other labels have p(y) / max p.

    Args:
        probabilities: p, honest predictions, `(N, K)`.
        given_label: y, `(N,)`.
    """
    p, label = _checked(probabilities, given_label)
    classes = p.shape[1]
    own = p.gather(1, label[:, None])[:, 0]
    total = torch.zeros(classes).to(p).index_add(0, label, own)
    count = torch.bincount(label, minlength=classes)
    threshold = torch.where(count > 0, total / count.clamp(min=1), torch.inf)
    reached = torch.where(p >= threshold, p, -1.0)
    sure, believed = reached.max(1)
    counted = torch.eye(classes).to(p)[believed] * (sure >= 0)[:, None]
    weight = torch.where((sure >= 0) & (believed != label), 0.0, own / p.amax(1))
    return transition_of(counted, label), weight


def bayes(p: Tensor, label: Tensor, t: Tensor) -> Tensor:
    """Return r, `(N, K)`: the probability of each true class."""
    joint = p * t[:, label].T
    return joint / joint.sum(1, keepdim=True)


def fitted(p: Tensor, label: Tensor, t: Tensor) -> tuple[Tensor, float]:
    """Return p^s scaled to sum 1, and the s under which the given labels are most likely."""
    found = []
    for exponent in _EXPONENTS:
        tried = p**exponent
        tried = tried / tried.sum(1, keepdim=True)
        likelihood = (tried * t[:, label].T).sum(1).log().mean()
        found.append((likelihood.item(), exponent, tried))
    _, exponent, best = max(found, key=lambda one: one[0])
    return best, exponent


def _checked(probabilities: Tensor, given_label: Tensor) -> tuple[Tensor, Tensor]:
    if probabilities.ndim != 2 or probabilities.shape[1] < 2 or not len(probabilities):
        raise MentorNetError(
            "probabilities must have shape (N, K) with N ≥ 1 and K ≥ 2, got "
            f"{tuple(probabilities.shape)}"
        )
    if given_label.shape != probabilities.shape[:1] or given_label.is_floating_point():
        raise MentorNetError(
            f"given_label must be {len(probabilities)} class numbers, got shape "
            f"{tuple(given_label.shape)} of {given_label.dtype}"
        )
    p = probabilities.double()
    if not p.isfinite().all() or (p < 0).any() or not (p.sum(1) > 0).all():
        raise MentorNetError("probabilities must be finite, ≥ 0, and not all 0 in a row")
    label = given_label.long()
    if label.min() < 0 or label.max() >= p.shape[1]:
        odd = label[(label < 0) | (label >= p.shape[1])][0].item()
        raise MentorNetError(f"given_label must be in 0–{p.shape[1] - 1}, got {odd}")
    p = (p / p.sum(1, keepdim=True)).clamp(min=_LEAST)
    return p / p.sum(1, keepdim=True), label
