"""The true class of each sample, from its features, judged by classifiers that have not seen it.

The samples are split into folds. A linear classifier that is trained on the other folds predicts
each fold, so its predictions are honest, and `label_posterior` gives the probability r(k) of each
true class. The classifiers are trained again, each given label with its weight r(y), for a few
rounds. With verdicts, `learn_true_class` also learns mistakes that rules make again and again.
Shapes: N samples, D features, K classes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.randomness import generator
from mentornet.verdicts.verdicts import LEAST
from mentornet.weighting.linear_fit import LinearFit, fit_linear, standardised
from mentornet.weighting.posterior import LabelPosterior, confident_start, label_posterior
from mentornet.weighting.verdict_probe import learn_true_class

__all__ = ["judge_features", "linear_decay"]

_FOLDS, _ROUNDS = 5, 3
_DECAY, _ENOUGH = 2.5e-4, 1500  # λ/D up to so many samples; with more of them, it falls as 1/N
_LEAST, _LOST = 1e-6, 0.1  # the smallest probability; the trust under which a class is lost
_SHUFFLE = 21  # a stream of randomness


def linear_decay(count: int, width: int) -> float:
    """Return the weight decay λ of a linear classifier on N samples of D standardised features."""
    return _DECAY * width * min(1.0, _ENOUGH / count)


def judge_features(
    features: Tensor, given_label: Tensor, classes: int, *, known: Tensor | None = None,
    seed: int = 0,
) -> LabelPosterior:  # fmt: skip
    """Return the probability of each true class, and the noise matrix.

    Args:
        features: `(N, D)`.
        given_label: y, `(N,)`, in 0 … K−1.
        classes: K.
        known: the true class where somebody has said it, else −1, `(N,)`.
        seed: seed of the folds.
    """
    x, own = standardised(features), torch.eye(classes, device=features.device)
    fold, decay = _folds(given_label, classes, seed), linear_decay(*x.shape)
    said = torch.full_like(given_label, -1) if known is None else known
    told = (said >= 0)[:, None]
    fits: list[LinearFit | None] = [None] * _FOLDS
    honest = _honest(x, own[given_label], fold, decay, fits)
    transition, first = confident_start(honest, given_label)
    trust = _fair(first, given_label, classes)
    for _ in range(_ROUNDS):
        rows = torch.where(told, own[said.clamp(min=0)], own[given_label] * trust[:, None])
        honest = _honest(x, rows, fold, decay, fits)
        found = label_posterior(honest, given_label, transition=transition, known=said)
        transition, trust = found.transition, _fair(found.right, given_label, classes)
    true = found.true
    if int(told.sum()) >= LEAST:
        true = learn_true_class(x, given_label, said, honest, true)
    true = torch.where(told, own[said.clamp(min=0)].to(true), true)
    return LabelPosterior(true, given_label, found.transition, found.exponent)


def _honest(
    x: Tensor, rows: Tensor, fold: Tensor, decay: float, fits: list[LinearFit | None]
) -> Tensor:
    """Return out-of-fold predictions, `(N, K)`; `fits` are where to begin, and what was found."""
    found = torch.empty_like(rows)
    for number in range(_FOLDS):
        here = fold == number
        fitted = fit_linear(x[~here], rows[~here], decay, start=fits[number])
        fits[number], found[here] = fitted, fitted.probabilities(x[here])
    found = found.clamp(min=_LEAST)
    return found / found.sum(1, keepdim=True)


def _folds(given_label: Tensor, classes: int, seed: int) -> Tensor:
    """Return the fold of each sample, `(N,)`; every class is spread evenly over the folds."""
    draws = generator(seed, _SHUFFLE)
    label, dealt = given_label.cpu(), 0
    fold = torch.empty_like(label)
    for number in range(classes):
        members = (label == number).nonzero()[:, 0]
        members = members[torch.randperm(len(members), generator=draws)]
        fold[members] = (dealt + torch.arange(len(members))) % _FOLDS
        dealt += len(members)
    return fold.to(given_label.device)


def _fair(trust: Tensor, given_label: Tensor, classes: int) -> Tensor:
    """Return the weights, float32, but 1 for a class of which no label is trusted."""
    most = torch.zeros(classes).to(trust).scatter_reduce(0, given_label, trust, "amax")
    return torch.where(most[given_label] > _LOST, trust, 1.0).float()
