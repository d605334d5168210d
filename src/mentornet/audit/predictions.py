"""Rank labels by predicted probabilities, where there was no training run of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.audit.ranking import Ranking, rank
from mentornet.data.files.vector_file import read_vectors
from mentornet.errors import MentorNetError
from mentornet.verdicts import Verdicts
from mentornet.weighting import label_posterior

__all__ = ["class_numbers", "rank_by_posterior", "rank_predictions", "vectors_of"]

_SURE = 1e-12  # how far a probability stays from 0 and 1


def rank_predictions(
    probabilities: Any,
    labels: Any,
    *,
    classes: Sequence[str] | None = None,
    noise_rate: float | None = None,
    verdicts: Verdicts | None = None,
) -> Ranking:
    """Rank every label by what any classifier predicts for its sample.

    `label_quality` is the probability that the label is correct, by `label_posterior`, and `wrong`
    is the estimated number of wrong labels. It rests on the assumption that whether a label is
    wrong depends on the true class alone.

    Args:
        probabilities: the predicted probabilities, `(N, K)`, of classifiers that were not trained
            on the sample they predict, such as `cross_val_predict(…, method="predict_proba")`; or
            the path of a file that `read_vectors` reads.
        labels: the given labels, `(N,)`: class numbers in the order of the columns, or names of
            `classes`.
        classes: the class names, `(K,)`.
        noise_rate: the share of wrong labels, if it is known; by default it is estimated.
        verdicts: what people said of some of these labels.

    >>> p = np.array([[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 8)
    >>> given = ["cat"] * 7 + ["dog"] * 9
    >>> found = rank_predictions(p, given, classes=["cat", "dog"])
    >>> np.flatnonzero(found.is_issue)
    array([7])
    """
    p = torch.from_numpy(vectors_of(probabilities, "probabilities").astype(np.float64))
    given = torch.from_numpy(class_numbers(labels, classes))
    known = torch.full_like(given, -1) if verdicts is None else verdicts.said(given)
    true = label_posterior(p, given, known=known).true
    told = torch.nn.functional.one_hot(known.clamp(min=0), true.shape[1]).to(true)
    true = torch.where(known[:, None] >= 0, told, true)
    return rank_by_posterior(true, given, classes, noise_rate, verdicts)


def rank_by_posterior(
    true: Tensor,
    given: Tensor,
    classes: Sequence[str] | None,
    noise_rate: float | None,
    verdicts: Verdicts | None,
) -> Ranking:
    """Rank labels by the probability r of each true class, `(N, K)`."""
    true = _without_refuted(true, given, verdicts)
    right = true.gather(1, given[:, None])[:, 0]
    inside = right.clamp(_SURE, 1 - _SURE)
    columns = {
        "given_label": given.numpy(),
        "margin": (inside / (1 - inside)).log().numpy(),
        "suggested_label": true.argmax(1).numpy(),
        "support": true.amax(1).numpy(),
    }
    share = float(1 - right.mean()) if noise_rate is None else noise_rate
    return rank(columns, classes=classes, noise_rate=share)


def _without_refuted(true: Tensor, given: Tensor, verdicts: Verdicts | None) -> Tensor:
    """Return r, with r(y) = 0 where somebody said that y is wrong, but not what is right."""
    if verdicts is None:
        return true
    rows = verdicts.index[~verdicts.is_correct & (verdicts.true_label < 0)]
    others = true[rows].clamp(min=_SURE).scatter(1, given[rows][:, None], 0)
    return true.index_copy(0, rows, others / others.sum(1, keepdim=True))


def vectors_of(value: Any, name: str) -> NDArray[Any]:
    """Return an array `(N, D)` from an array, or from the path of a file of vectors."""
    if isinstance(value, str | Path):
        return read_vectors(Path(value)).numpy()
    if isinstance(value, Tensor):
        value = value.detach().cpu()
    found = np.asarray(value)
    if found.ndim != 2 or found.dtype.kind not in "iuf":
        raise MentorNetError(
            f"{name} must be numbers of shape (N, D), got {found.dtype} of shape {found.shape}"
        )
    bad = ~np.isfinite(found)
    if bad.any():
        row = int(bad.any(1).argmax())
        raise MentorNetError(
            f"{name} must be finite, and {int(bad.any(1).sum()):,} rows are not; the first is row "
            f"{row} (from 0)"
        )
    return found


def class_numbers(labels: Any, classes: Sequence[str] | None) -> NDArray[np.int64]:
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
