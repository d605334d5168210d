"""Probabilities that agree with the share of wrong labels.

What a student says of its labels tells wrong ones from correct ones well for long, but the level of
its probabilities does not hold: as it memorises, it calls ever more wrong labels correct, and it is
surer than it should be. If the share ε of wrong labels is known from a better time, then

    v = σ(s + m)

is better calibrated than r, where s is what the universal mentor says of the label, and m is the
number under which the mean of 1 − v is ε.
Shapes: N samples, K classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor

from mentornet.weighting.posterior import LabelPosterior

__all__ = ["calibrated", "evidence_for", "share_of_wrong", "with_right"]

_LEAST = 1e-9  # the smallest distance of r from 0 and 1
_RAREST = 1e-4  # the smallest probability of a class whose logarithm is read
_MOST = 25.0  # the largest |m|: it undoes what is as sure as that
_ROUNDS = 40  # of bisection, to within 1e-10
_SURE = 0.5, 1.0  # standard deviations of a factor of s, and of m, that verdicts may find
_NEWTON, _STRIDE = 30, 0.5  # steps of Newton's method, and the largest


def evidence_for(
    found: LabelPosterior, p: Tensor, names: Iterable[str] = ("posterior", "margin")
) -> dict[str, Tensor]:
    """Return what a universal mentor reads of each label, by name, `(N,)` each; see `EVIDENCE`.

    Args:
        found: what is known of the true classes.
        p: the averaged predictions that it was found from, `(N, K)`.
        names: which evidence is wanted.
    """
    ways = {
        "posterior": lambda: found.right.clamp(_LEAST, 1 - _LEAST).logit(),
        "margin": lambda: _margin(p, found.given_label),
    }
    return {name: ways[name]() for name in names}


def _margin(p: Tensor, label: Tensor) -> Tensor:
    """Return (log p(y) − max log p(k)) / log K over k ≠ y, `(N,)`."""
    log_p, given = p.double().clamp(min=_RAREST).log(), label[:, None]
    others = log_p.scatter(1, given, -torch.inf).amax(1)
    return (log_p.gather(1, given)[:, 0] - others) / math.log(p.shape[1])


def calibrated(sureness: Tensor, rate: Tensor) -> Tensor:
    """Return v, `(N,)`.

    Args:
        sureness: s of each label, `(N,)`.
        rate: ε, a scalar in (0, 1).

    >>> calibrated(torch.tensor([2.0, -1.0, 1.0, 3.0]), torch.tensor(0.25)).mean()
    tensor(0.7500)
    """
    return (sureness + _shift(sureness, rate)).sigmoid()


def with_right(found: LabelPosterior, v: Tensor) -> LabelPosterior:
    """Return the same posterior with v, `(N,)`, in place of r(y); the other classes share 1 − v."""
    right = found.right.clamp(_LEAST, 1 - _LEAST)
    true = found.true * ((1 - v) / (1 - right))[:, None]
    return replace(found, true=true.scatter(1, found.given_label[:, None], v[:, None]))


def share_of_wrong(
    sureness: Tensor, rate: Tensor, rows: Tensor, correct: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the share of wrong labels that verdicts show, and its variance.

    Verdicts show m, and a factor of s that would be 1 without any. This holds also if the samples
    were chosen by how wrong they look, because what is fitted is the chance of a correct label at a
    given s. The student must not have been taught the verdicts.

    Args:
        sureness: s of each label, `(N,)`.
        rate: ε without verdicts, a scalar.
        rows: the samples with a verdict, `(M,)`.
        correct: whether their given labels are correct, `(M,)`, boolean.

    >>> sureness, rows = torch.tensor([4.0, 1.0, -1.0, 4.0] * 25), torch.arange(40)
    >>> share_of_wrong(sureness, torch.tensor(0.1), rows, rows % 4 != 2)[0].round(decimals=2)
    tensor(0.2200)
    """
    one = torch.ones_like(sureness)
    usual = torch.stack([one[0], _shift(sureness, rate.to(sureness))])
    read = torch.stack([sureness, one], 1)
    seen, prior = read[rows], torch.tensor(_SURE).to(sureness) ** -2
    fitted, curve = usual, torch.diag(prior)
    for _ in range(_NEWTON):
        v = (seen @ fitted).sigmoid()
        slope = seen.T @ (v - correct.to(v)) + prior * (fitted - usual)
        curve = (seen * (v * (1 - v))[:, None]).T @ seen + torch.diag(prior)
        fitted = fitted - torch.linalg.solve(curve, slope).clamp(-_STRIDE, _STRIDE)
    v = (read @ fitted).sigmoid()
    moves = (read * (v * (1 - v))[:, None]).mean(0)
    return 1 - v.mean(), moves @ torch.linalg.solve(curve, moves)


def _shift(sureness: Tensor, rate: Tensor) -> Tensor:
    """Return the m under which the mean of 1 − σ(sureness + m) is that rate."""
    low = torch.full_like(rate, -_MOST).to(sureness)
    high = -low
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        enough = (sureness + middle).sigmoid().mean() >= 1 - rate
        low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
    return high
