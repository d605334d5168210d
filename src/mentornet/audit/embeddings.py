"""Rank labels by the embeddings of their samples, or by any features, with no training run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.audit.predictions import (
    class_numbers,
    rank_by_posterior,
    vectors_of,
)
from mentornet.audit.ranking import Ranking
from mentornet.errors import MentorNetError
from mentornet.verdicts import Verdicts

__all__ = ["linear_probe", "rank_embeddings"]

_ROUNDS = 2  # after the first, in which all labels are trusted alike
_STRENGTH = 32.0


def rank_embeddings(
    embeddings: Any,
    labels: Any,
    *,
    estimator: Any = None,
    classes: Sequence[str] | None = None,
    noise_rate: float | None = None,
    verdicts: Verdicts | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Ranking:
    """Rank every label by what classifiers predict that were not trained on its sample.

    A classifier is trained on four fifths of the samples, and predicts the last fifth; five such
    classifiers predict them all. This is done three times: later ones trust each label as much as
    the predictions before them do (see `integrations.out_of_fold`). `label_quality` is the
    probability that the label is correct, as in `rank_predictions`.

    Args:
        embeddings: the samples, `(N, D)`, or the path of a file that `read_vectors` reads. With
            your own `estimator`, whatever that takes, such as a data frame or a list of texts.
        labels: the given labels, `(N,)`: class numbers from 0, or names. Names are sorted, unless
            `classes` has them in another order.
        estimator: any scikit-learn classifier with `predict_proba`; by default `linear_probe`.
        classes: the class names, `(K,)`.
        noise_rate: the share of wrong labels, if it is known; by default it is estimated.
        verdicts: what people said of some of these labels; with ten or more, what they say is
            learned from, too.
        folds: the number of parts.
        seed: seed of the parts.

    >>> draw = np.random.default_rng(0)
    >>> center = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0)
    >>> given = ["cat"] * 19 + ["dog"] * 21
    >>> found = rank_embeddings(center + draw.normal(size=(40, 2)), given)
    >>> found.table["index"][0]  # the worst label
    np.int64(19)
    """
    from mentornet.integrations.out_of_fold import OutOfFold  # imported late: it needs sklearn

    if estimator is None or isinstance(embeddings, str | Path):
        embeddings = vectors_of(embeddings, "embeddings")
    estimator = linear_probe(embeddings.shape[1]) if estimator is None else estimator
    if isinstance(estimator, type) or not hasattr(estimator, "predict_proba"):
        raise MentorNetError(
            "estimator must be a scikit-learn classifier with predict_proba, such as "
            f"LogisticRegression(), got {estimator!r}"
        )
    column = np.asarray(labels)
    if classes is None and column.dtype.kind not in "iu":
        classes = [f"{name}" for name in sorted(set(column.tolist()))]
    given = class_numbers(labels, classes)
    count = _count(given, classes)
    _check_rows(embeddings, given, folds)
    label = torch.from_numpy(given)
    said = torch.full_like(label, -1) if verdicts is None else verdicts.said(label)
    way = OutOfFold(estimator, count, min(folds, len(given)), _ROUNDS, seed)
    true, _ = way.judge(embeddings, given, said.numpy(), np.ones(len(given)))
    return rank_by_posterior(
        torch.from_numpy(true), torch.from_numpy(given), classes, noise_rate, verdicts
    )


def linear_probe(width: int) -> Any:
    """Return the default classifier of embeddings: logistic regression on standardised columns.

    Its C is 32/D, at most 1, so that logits vary as much for long embeddings as for short ones.

    Args:
        width: D, the length of an embedding.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(C=min(1.0, _STRENGTH / width), max_iter=300, tol=1e-3)
    return make_pipeline(StandardScaler(), regression)


def _count(given: NDArray[np.int64], classes: Sequence[str] | None) -> int:
    """Return K; the numbers of the labels must fit."""
    if not len(given):
        raise MentorNetError("there are no labels")
    most, least = int(given.max()), int(given.min())
    count = max(most + 1, 2) if classes is None else len(classes)
    if least < 0 or most >= count or most >= 10 * len(given):
        raise MentorNetError(
            f"labels must be class numbers in 0–{count - 1}, got {least} to {most}; give names as "
            "text"
        )
    return count


def _check_rows(embeddings: Any, given: NDArray[np.int64], folds: int) -> None:
    count = embeddings.shape[0] if hasattr(embeddings, "shape") else len(embeddings)
    if count != len(given):
        raise MentorNetError(f"there are {len(given):,} labels for {count:,} embeddings")
    if len(np.unique(given)) < 2:
        raise MentorNetError("all labels are of one class; at least two are needed")
    if folds < 2:
        raise MentorNetError(f"folds must be at least 2, got {folds}")
