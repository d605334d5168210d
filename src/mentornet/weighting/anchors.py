"""The true class of each sample, by the predictions that a student is surest of.

A student learns P(given label | sample), not P(true class | sample). Both a student that is unsure
of correct labels and one that is sure of 30 % wrong labels predict the given label with 70 %, so
its probabilities alone cannot say how many labels are wrong. But where it is surest, the true class
is hardly in doubt. The labels of these anchors of class k show T[k, j] = P(given label j | true
class k), and the share ε of wrong labels. Bayes' rule then gives, for a sample with given label y,

    r(k) = q(k) T[k, y] / Σ_l q(l) T[l, y],

the probability of each true class, and r(y) is the probability that the label is correct. q ∝ p^s
is the student's prediction, made surer (s > 1) or less sure (s < 1) so that the given labels are
most likely.

Classes that a student confuses look like labels that are confused, so T is in part the matrix in
which all wrong classes are as likely; the fewer anchors a class has, the more so. Verdicts show
mistakes of the labels themselves. Where there are some, the wrong labels that they name, and
`_SHOWN` that are spread as in this T, say how wrong labels are spread over the pairs of classes;
how many there are in all is then said by the share of wrong labels.
Shapes: N samples, K classes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.weighting.posterior import LabelPosterior, bayes, fitted

__all__ = ["anchored_posterior", "balanced"]

_SUREST = 0.5  # share of the samples predicted as a class that are its anchors …
_ANCHORS = 5  # … and at least so many
_EVEN = 0.3  # share in T of the matrix in which all wrong classes are as likely …
_PRIOR = 2  # … plus what so many anchors for each class would add
_RATES = 0.002, 0.95  # the smallest and the largest ε
_LEAST = 1e-4  # the smallest probability of a prediction
_RAREST = 0.02  # K times the smallest number in T
_ROUNDS = 5  # of balancing
_SHOWN = 100.0  # wrong labels that anchors count as, beside those that verdicts name
_MOST = 0.95  # the largest share of wrong labels in a class


def anchored_posterior(
    probabilities: Tensor,
    given_label: Tensor,
    *,
    said: Tensor | None = None,
    rate: Tensor | None = None,
) -> LabelPosterior:
    """Return the probability of each true class, and T.

    Args:
        probabilities: p, averaged predictions of a student that has memorised no wrong labels yet,
            `(N, K)`; rows sum to 1.
        given_label: y, `(N,)`, in 0–K−1.
        said: the true class where a verdict says it, else −1, `(N,)`. It counts for T, but not for
            the r of its own sample.
        rate: with `said`, the share of wrong labels, a scalar; None for what the anchors say.

    >>> p = torch.tensor([[0.8, 0.2]] * 10 + [[0.2, 0.8]] * 10)
    >>> label = torch.tensor([0] * 9 + [1] * 10 + [0])
    >>> anchored_posterior(p, label).right[[0, 9]].round(decimals=1)
    tensor([1., 0.], dtype=torch.float64)
    """
    p = balanced(probabilities.double().clamp(min=_LEAST), given_label)
    transition = _transition(p, given_label)
    if said is not None:
        transition = _spread(transition, p.sum(0), given_label, said, rate)
    q, exponent = fitted(p, given_label, transition)
    return LabelPosterior(bayes(q, given_label, transition), given_label, transition, exponent)


def balanced(probabilities: Tensor, given_label: Tensor) -> Tensor:
    """Return predictions in which each class is about as frequent as among the given labels.

    A student that prefers one of two classes it confuses would call all labels of the other wrong,
    and would then never learn it.

    >>> balanced(torch.tensor([[0.9, 0.1], [0.6, 0.4]]), torch.tensor([0, 1])).argmax(1)
    tensor([0, 1])
    """
    classes = probabilities.shape[1]
    wanted = torch.bincount(given_label, minlength=classes) / len(given_label)
    p = probabilities / probabilities.sum(1, keepdim=True)
    for _ in range(_ROUNDS):
        p = p * (wanted.to(p) / p.mean(0).clamp(min=_LEAST))
        p = p / p.sum(1, keepdim=True)
    return p


def _transition(p: Tensor, given_label: Tensor) -> Tensor:
    """Return T, `(K, K)`, from the labels of the anchors of each class."""
    classes = p.shape[1]
    sure, predicted = p.max(1)
    counts = torch.zeros(classes, classes).to(p)
    for one in range(classes):
        of_class = (predicted == one).nonzero()[:, 0]
        some = min(len(of_class), max(_ANCHORS, round(_SUREST * len(of_class))))
        anchors = of_class[sure[of_class].topk(some).indices]
        counts[one] = torch.bincount(given_label[anchors], minlength=classes)
    number, own = counts.sum(1, keepdim=True), torch.eye(classes).to(p)
    rate = (1 - counts.trace() / number.sum()).clamp(*_RATES)
    even = own * (1 - rate) + (1 - own) * rate / (classes - 1)
    prior = _PRIOR * classes
    share = _EVEN + (1 - _EVEN) * prior / (number + prior)
    found = (1 - share) * counts / number.clamp(min=1) + share * even
    return found.clamp(min=_RAREST / classes)


def _spread(
    transition: Tensor, members: Tensor, given_label: Tensor, said: Tensor, rate: Tensor | None
) -> Tensor:
    """Return T with the wrong labels that verdicts name.

    Args:
        transition: T from the anchors, `(K, K)`.
        members: the expected number of samples of each class, `(K,)`.
        given_label: `(N,)`.
        said: the true class, or −1, `(N,)`.
        rate: the share of wrong labels, or None.
    """
    classes = len(members)
    wrong = (said >= 0) & (said != given_label)
    pairs = said[wrong] * classes + given_label[wrong]
    named = torch.bincount(pairs, minlength=classes**2).view(classes, classes).to(transition)
    off = 1 - torch.eye(classes).to(transition)
    expected = transition * members[:, None] * off
    total = expected.sum() if rate is None else rate.to(transition) * len(given_label)
    shown = expected * (_SHOWN / expected.sum()) + named
    found = shown * (total / shown.sum()) / members.clamp(min=1)[:, None]
    found = found * (_MOST / found.sum(1, keepdim=True)).clamp(max=1)
    found = found + torch.diag(1 - found.sum(1))
    return found.clamp(min=_RAREST / classes)
