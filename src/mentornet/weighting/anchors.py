"""The probability that each given label is correct, by the predictions a student is surest of.

A student learns P(given label | sample), not P(true class | sample). Both a student that is unsure
of correct labels and one that is sure of 30 % wrong labels predict the given label with 70 %, so
its probabilities alone cannot say how many labels are wrong. But where it is surest, the true class
is hardly in doubt. The share of these anchors that have another label is the share ε of wrong ones.

With ε, and with a wrong label being any other class with equal chance, Bayes' rule gives

    v = q(y) (1 − ε) / (q(y) (1 − ε) + (1 − q(y)) ε/(K − 1)),

the probability that the given label y is correct, where q ∝ p^s is the student's prediction, made
surer (s > 1) or less sure (s < 1) so that the given labels are most likely.

A full noise matrix in place of ε takes confusions of the student for confusions of the labels: it
was worse in all our development runs. Shapes: N samples, K classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Anchored", "anchored_posterior", "balanced"]

_SUREST = 0.25  # share of the samples predicted as a class that are its anchors …
_ANCHORS = 5  # … and at least so many
_RATES = 0.002, 0.95  # the smallest and the largest ε
_LEAST = 1e-4  # the smallest probability
_ROUNDS = 5  # of balancing
_EXPONENTS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@dataclass(frozen=True, eq=False)
class Anchored:
    """What is known of the given labels.

    Attributes:
        right: v, the probability that each given label is correct, `(N,)`.
        exponent: s.
    """

    right: Tensor
    exponent: float

    @property
    def noise_rate(self) -> Tensor:
        """The expected share of wrong labels, 1 − mean(v), a scalar."""
        return 1 - self.right.mean()


def anchored_posterior(probabilities: Tensor, given_label: Tensor) -> Anchored:
    """Return the probability that each given label is correct.

    Args:
        probabilities: p, averaged predictions of a student that has memorised no wrong labels yet,
            `(N, K)`; rows sum to 1.
        given_label: y, `(N,)`, in 0–K−1.

    >>> p = torch.tensor([[0.8, 0.2]] * 10 + [[0.2, 0.8]] * 10)
    >>> label = torch.tensor([0] * 9 + [1] * 10 + [0])
    >>> anchored_posterior(p, label).right[[0, 9]].round(decimals=1)
    tensor([1., 0.], dtype=torch.float64)
    """
    classes = probabilities.shape[1]
    p = balanced(probabilities.double().clamp(min=_LEAST), given_label)
    rate = _rate_of_anchors(p, given_label)
    found = []
    for exponent in _EXPONENTS:
        q = p**exponent
        own = (q.gather(1, given_label[:, None]) / q.sum(1, keepdim=True))[:, 0]
        correct, wrong = own * (1 - rate), (1 - own) * rate / (classes - 1)
        likelihood = (correct + wrong).log().mean().item()
        found.append((likelihood, exponent, correct / (correct + wrong)))
    _, exponent, right = max(found, key=lambda one: one[0])
    return Anchored(right, exponent)


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


def _rate_of_anchors(p: Tensor, given_label: Tensor) -> Tensor:
    """Return ε, the share of the anchors of all classes that have another given label, a scalar."""
    sure, predicted = p.max(1)
    against = count = torch.zeros((), dtype=p.dtype, device=p.device)
    for one in range(p.shape[1]):
        of_class = (predicted == one).nonzero()[:, 0]
        some = min(len(of_class), max(_ANCHORS, round(_SUREST * len(of_class))))
        anchors = of_class[sure[of_class].topk(some).indices]
        against, count = against + (given_label[anchors] != one).sum(), count + some
    return (against / count).clamp(*_RATES)
