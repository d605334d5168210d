"""Learn from verdicts what the true class of a sample is, where labels are wrong by a system.

Rules and word lists are wrong about the same kind of sample again and again. No prediction that was
learned from their labels shows that, but verdicts do. A small model learns P(true class) from what
is known of a verified sample: its columns, its given label, and what the classifier believes.
Shapes: N samples, M of them with a verdict, K classes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

__all__ = ["learn_true_class"]

_LEAST = 1e-4  # the smallest probability whose logarithm is read
_COLUMNS, _BELIEF = 4.0, 0.25  # the scale of the columns together, and of the logarithms
_TRUST = (0.25, 1.0)  # the scales of log r that are tried
_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of `LogisticRegression`, as its C
_PARTS = 3  # of the cross-validation

Floats = NDArray[np.float64]


def learn_true_class(
    X: Any, given: NDArray[np.int64], known: NDArray[np.int64], honest: Floats, true: Floats
) -> Floats:
    """Return the probability of each true class, `(N, K)`.

    Several models are compared on verdicts that they have not learned from. If none of them is
    better than r, the probabilities that need no verdicts, then r is returned.

    Args:
        X: the samples; they are read if they are a dense table of numbers.
        given: their given labels, `(N,)`.
        known: the true class of each sample, or −1, `(N,)`.
        honest: out-of-fold predictions, `(N, K)`.
        true: r of every sample, `(N, K)`; that of a verified sample must not depend on its own
            verdict.
    """
    verified = np.flatnonzero(known >= 0)
    target = known[verified]
    best, found = _score(true[verified], target), true
    for trust in _TRUST:
        features = _features(X, given, honest, true, trust)
        for strength in _STRENGTHS:
            score = _held_out_score(features[verified], target, strength, true.shape[1])
            if score > best:
                best = score
                found = _probabilities(
                    features[verified], target, features, strength, true.shape[1]
                )
    return found


def _features(
    X: Any, given: NDArray[np.int64], honest: Floats, true: Floats, trust: float
) -> Floats:
    parts = [
        np.eye(true.shape[1])[given],
        _BELIEF * np.log(np.clip(honest, _LEAST, 1)),
        trust * np.log(np.clip(true, _LEAST, 1)),
    ]
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        columns = np.nan_to_num(StandardScaler().fit_transform(X.astype(np.float64)))
        parts.append(_COLUMNS / math.sqrt(X.shape[1]) * columns)
    return np.hstack(parts)


def _held_out_score(
    features: Floats, target: NDArray[np.int64], strength: float, classes: int
) -> float:
    """Return the mean of log P(true class) over verdicts that were held out in turn."""
    part = np.arange(len(target)) % _PARTS
    scores = np.empty(len(target))
    for number in range(_PARTS):
        here = part == number
        found = _probabilities(features[~here], target[~here], features[here], strength, classes)
        scores[here] = _scores(found, target[here])
    return float(scores.mean())


def _probabilities(
    features: Floats, target: NDArray[np.int64], asked: Floats, strength: float, classes: int
) -> Floats:
    found = np.zeros((len(asked), classes))
    if len(np.unique(target)) < 2:
        found[:, target[0]] = 1
        return found
    model = LogisticRegression(C=strength, max_iter=1000).fit(features, target)
    found[:, model.classes_] = model.predict_proba(asked)
    return found


def _scores(probabilities: Floats, target: NDArray[np.int64]) -> Floats:
    scores: Floats = np.log(np.clip(probabilities[np.arange(len(target)), target], _LEAST, 1))
    return scores


def _score(probabilities: Floats, target: NDArray[np.int64]) -> float:
    return float(_scores(probabilities, target).mean())
