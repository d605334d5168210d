"""Learn from verdicts what the true class of a sample is, where labels are wrong by a system.

Rules and word lists are wrong about the same kind of sample again and again. No prediction that was
learned from their labels shows that, but verdicts do. A small model learns P(true class) from what
is known of a verified sample: its features, its given label, and what the classifier believes.
Shapes: N samples, M of them with a verdict, D features, K classes.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mentornet.weighting.linear_fit import fit_linear

__all__ = ["learn_true_class"]

_LEAST = 1e-4  # the smallest probability whose logarithm is read
_FEATURES, _BELIEF = 4.0, 0.25  # the scale of the features together, and of the logarithms
_TRUST = (0.25, 1.0)  # the scales of log r that are tried
_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # λ = 1/(strength · M) of the models that are tried
_PARTS = 3  # of the cross-validation


def learn_true_class(
    features: Tensor | None, given_label: Tensor, known: Tensor, honest: Tensor, true: Tensor
) -> Tensor:
    """Return the probability of each true class, `(N, K)`.

    Several models are compared on verdicts that they have not learned from. If none of them is
    better than r, the probabilities that need no verdicts, then r is returned.

    Args:
        features: standardised features, `(N, D)`; None if there are none.
        given_label: y, `(N,)`.
        known: the true class of each sample, or −1, `(N,)`.
        honest: out-of-fold predictions, `(N, K)`.
        true: r of every sample, `(N, K)`; that of a verified sample must not depend on its own
            verdict.
    """
    verified = (known >= 0).nonzero()[:, 0]
    target = known[verified]
    best, found = float(_scores(true[verified], target).mean()), true
    for trust in _TRUST:
        evidence = _evidence(features, given_label, honest, true, trust)
        seen = evidence[verified]
        for strength in _STRENGTHS:
            score = _held_out_score(seen, target, strength, true.shape[1])
            if score > best:
                best = score
                found = _probabilities(seen, target, evidence, strength, true.shape[1]).to(true)
    return found


def _evidence(
    features: Tensor | None, given_label: Tensor, honest: Tensor, true: Tensor, trust: float
) -> Tensor:
    """Return what a model reads of every sample, float64, `(N, …)`."""
    parts = [
        torch.eye(true.shape[1], dtype=torch.float64, device=true.device)[given_label],
        _BELIEF * honest.double().clamp(_LEAST, 1).log(),
        trust * true.double().clamp(_LEAST, 1).log(),
    ]
    if features is not None:
        parts.append(_FEATURES / math.sqrt(features.shape[1]) * features.double())
    return torch.cat(parts, 1)


def _held_out_score(evidence: Tensor, target: Tensor, strength: float, classes: int) -> float:
    """Return the mean of log P(true class) over verdicts that were held out in turn."""
    part = torch.arange(len(target), device=target.device) % _PARTS
    scores = torch.empty(len(target), dtype=torch.float64, device=target.device)
    for number in range(_PARTS):
        here = part == number
        found = _probabilities(evidence[~here], target[~here], evidence[here], strength, classes)
        scores[here] = _scores(found, target[here])
    return float(scores.mean())


def _probabilities(
    evidence: Tensor, target: Tensor, asked: Tensor, strength: float, classes: int
) -> Tensor:
    """Return what a model learns of `target`, for the rows in `asked`; 0 for unseen classes."""
    seen, place = target.unique(return_inverse=True)
    found = torch.zeros(len(asked), classes, dtype=torch.float64, device=asked.device)
    one = torch.eye(len(seen), dtype=torch.float64, device=asked.device)[place]
    fitted = fit_linear(evidence, one, 1 / (strength * len(target)))
    found[:, seen] = fitted.probabilities(asked)
    return found


def _scores(probabilities: Tensor, target: Tensor) -> Tensor:
    """Return log P(true class) of each sample, `(M,)`."""
    return probabilities.double().gather(1, target[:, None])[:, 0].clamp(_LEAST, 1).log()
