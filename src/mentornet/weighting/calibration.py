"""Probabilities that agree with the share of wrong labels.

What a student says of its labels tells wrong ones from correct ones well for long, but the level of
its probabilities does not hold: as it memorises, it calls ever more wrong labels correct, and it is
surer than it should be. If the share ε of wrong labels is known from a better time, then

    v = σ(s log(r / (1 − r)) + m)

with s < 1, and with the m under which the mean of 1 − v is ε, is better calibrated than r.
Shapes: N samples, K classes.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from mentornet.weighting.posterior import LabelPosterior

__all__ = ["calibrated", "share_of_wrong"]

_SLOPE = 0.65  # s
_LEAST = 1e-9  # the smallest distance of a probability from 0 and 1
_MOST = 25.0  # the largest |m|: it undoes what is as sure as that
_ROUNDS = 40  # of bisection, to within 1e-10
_SURE = 0.3, 1.0  # standard deviations of s and m around what is assumed without verdicts
_NEWTON, _STRIDE = 30, 0.5  # steps of Newton's method, and the largest


def calibrated(found: LabelPosterior, rate: Tensor) -> LabelPosterior:
    """Return the same posterior, but with the given mean of 1 − r(y).

    Args:
        found: what is known of the true classes.
        rate: ε, a scalar in (0, 1).

    >>> from mentornet.weighting.anchors import anchored_posterior
    >>> p, label = torch.tensor([[0.9, 0.1], [0.6, 0.4]] * 5), torch.tensor([0, 1] * 5)
    >>> calibrated(anchored_posterior(p, label), torch.tensor(0.25)).right.mean()
    tensor(0.7500, dtype=torch.float64)
    """
    right = found.right.clamp(_LEAST, 1 - _LEAST)
    sureness = _SLOPE * right.logit()
    v = (sureness + _shift(sureness, rate)).sigmoid()
    true = found.true * ((1 - v) / (1 - right))[:, None]
    return replace(found, true=true.scatter(1, found.given_label[:, None], v[:, None]))


def share_of_wrong(found: LabelPosterior, rows: Tensor, correct: Tensor) -> tuple[Tensor, Tensor]:
    """Return the share of wrong labels that verdicts show, and its variance.

    s and m are fitted to the verdicts; without any they would be those of `calibrated`. This holds
    also if the samples were chosen by how wrong they look, because what is fitted is the chance of
    a correct label at a given r. The student must not have been taught the verdicts.

    Args:
        found: what is known of the true classes without them.
        rows: the samples with a verdict, `(M,)`.
        correct: whether their given labels are correct, `(M,)`, boolean.

    >>> from mentornet.weighting.anchors import anchored_posterior
    >>> p, label = torch.tensor([[0.9, 0.1], [0.6, 0.4]] * 50), torch.tensor([0, 1] * 50)
    >>> found, rows = anchored_posterior(p, label), torch.arange(40)
    >>> share_of_wrong(found, rows, rows % 4 > 0)[0].round(decimals=2)
    tensor(0.2300, dtype=torch.float64)
    """
    logit = found.right.clamp(_LEAST, 1 - _LEAST).logit()
    usual = torch.stack(
        [torch.full_like(logit[0], _SLOPE), _shift(_SLOPE * logit, found.noise_rate)]
    )
    read = torch.stack([logit, torch.ones_like(logit)], 1)
    seen, prior = read[rows], torch.tensor(_SURE).to(logit) ** -2
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
