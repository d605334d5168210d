"""Rank labels by predicted probabilities, where there was no training run of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from mentornet.audit.ranking import Ranking, rank
from mentornet.errors import MentorNetError
from mentornet.weighting import label_posterior

__all__ = ["rank_predictions"]


def rank_predictions(
    probabilities: Any, labels: Any, *, classes: Sequence[str] | None = None
) -> Ranking:
    """Rank every label by what any classifier predicts for its sample.

    `label_quality` is the probability that the label is correct, by `label_posterior`, and `wrong`
    is the estimated number of wrong labels. It rests on the assumption that whether a label is
    wrong depends on the true class alone.

    Args:
        probabilities: the predicted probabilities, `(N, K)`, of classifiers that were not trained
            on the sample they predict, such as `cross_val_predict(…, method="predict_proba")`.
        labels: the given labels, `(N,)`: class numbers in the order of the columns, or names of
            `classes`.
        classes: the class names, `(K,)`.

    >>> p = np.array([[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 8)
    >>> given = ["cat"] * 7 + ["dog"] * 9
    >>> found = rank_predictions(p, given, classes=["cat", "dog"])
    >>> np.flatnonzero(found.is_issue)
    array([7])
    """
    p = torch.from_numpy(np.array(probabilities, dtype=np.float64))
    posterior = label_posterior(p, torch.from_numpy(_numbers(labels, classes)))
    right = posterior.right.clamp(1e-12, 1 - 1e-12)
    columns = {
        "given_label": posterior.given_label.numpy(),
        "margin": (right / (1 - right)).log().numpy(),
        "suggested_label": posterior.suggested.numpy(),
        "support": posterior.true.amax(1).numpy(),
    }
    share = float(1 - right.mean())
    return rank(columns, classes=classes, noise_rate=min(max(share, 0.0), 1.0))


def _numbers(labels: Any, classes: Sequence[str] | None) -> Any:
    """Return class numbers, from numbers or names."""
    column = np.asarray(labels)
    if column.dtype.kind in "iu":
        return column.astype(np.int64)
    if classes is None:
        raise MentorNetError(
            f"labels must be class numbers, got {column.dtype}; for names, give classes in the "
            "order of the columns of probabilities"
        )
    number = {name: place for place, name in enumerate(classes)}
    for row, name in enumerate(column.tolist()):
        if name not in number:
            raise MentorNetError(
                f"label {name!r} in row {row} is none of the {len(number)} classes"
            )
    return np.array([number[name] for name in column.tolist()], np.int64)
