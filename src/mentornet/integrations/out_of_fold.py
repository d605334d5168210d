"""Find wrong labels with any scikit-learn classifier, by its out-of-fold predictions.

A classifier that was not trained on a sample cannot have memorised its label. So the samples are
split into folds, and each fold is predicted by a clone that was trained on the others. From these
predictions `label_posterior` finds the probability r(k) of each true class. Then the clones are
trained again, each given label with its weight r(y), and so on for a few rounds.
Shapes: N samples, K classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from mentornet.verdicts.verdicts import LEAST
from mentornet.weighting import (
    LabelPosterior,
    confident_start,
    label_posterior,
    learn_true_class,
    standardised,
)

__all__ = ["OutOfFold"]

_LIGHT = 0.02  # rows of less weight are left out
_LEAST = 1e-6  # the smallest probability
_LOST = 0.1  # a class is lost if no label of it is trusted more than this

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """A classifier, and how it is used to find wrong labels.

    Args:
        estimator: any classifier with `predict_proba`. If it takes no `sample_weight`, it is
            trained on the labels that are probably correct, without weights.
        classes: K.
        folds: the number of folds.
        rounds: how often the clones are trained again, after a first time on all labels alike.
        seed: seed of the folds.
    """

    estimator: Any
    classes: int
    folds: int = 5
    rounds: int = 3
    seed: int = 0

    def judge(
        self, X: Any, given: Integers, known: Integers, weight: Floats
    ) -> tuple[Floats, LabelPosterior]:
        """Return r, the probability of each true class, `(N, K)`, and where it comes from.

        Args:
            X: the samples.
            given: their given labels, `(N,)`, in 0–K−1.
            known: the true class where somebody has said it, else −1, `(N,)`. With at least 10
                verdicts, r is learned from them too (see `learn_true_class`).
            weight: a weight of each sample of the user's own, `(N,)`.
        """
        label, said = torch.from_numpy(given), torch.from_numpy(known)
        honest = torch.from_numpy(self._predictions(X, given, self._one(given), weight))
        transition, first = confident_start(honest, label)
        trusted = _fair(first.numpy(), given)
        for _ in range(self.rounds):
            target = np.where(known >= 0, known, given)
            rows = self._one(target) * np.where(known >= 0, 1.0, trusted)[:, None]
            honest = torch.from_numpy(self._predictions(X, given, rows, weight))
            found = label_posterior(honest, label, transition=transition, known=said)
            transition, trusted = found.transition, _fair(found.right.numpy(), given)
        true: Floats = found.true.numpy()
        if (known >= 0).sum() >= LEAST:
            true = learn_true_class(_columns(X), label, said, honest, found.true).numpy()
        return np.where((known >= 0)[:, None], self._one(np.maximum(known, 0)), true), found

    def fit(self, X: Any, true: Floats, weight: Floats) -> Any:
        """Return a clone that was trained on each sample as class k with the weight r(k)."""
        return self._trained(X, true * weight[:, None])

    def _predictions(self, X: Any, given: Integers, rows: Floats, weight: Floats) -> Floats:
        """Return out-of-fold probabilities, `(N, K)`; `rows` are the weights of each class."""
        found = np.zeros((len(given), self.classes))
        rows = rows * weight[:, None]
        fold = self._fold(given)
        for number in range(fold.max() + 1):
            away, here = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            trained = self._trained(_safe_indexing(X, away), rows[away])
            seen = trained.true_classes_
            part = np.zeros((len(here), self.classes))
            part[:, seen] = trained.predict_proba(_safe_indexing(X, here))
            strange = ~np.isin(given[here], seen)  # of a class that the others do not have
            part[strange, given[here][strange]] = 1 / self.classes
            found[here] = part
        found = np.clip(found, _LEAST, 1)
        return found / found.sum(1, keepdims=True)

    def _trained(self, X: Any, rows: Floats) -> Any:
        """Return a clone trained on `rows`, `(N, K)`; it knows its classes as `true_classes_`."""
        weighted = _weight_name(self.estimator)
        if weighted is None:
            rows = self._one(rows.argmax(1)) * (rows.max(1, keepdims=True) >= rows.sum(1).max() / 2)
        sample, target = np.nonzero(rows > _LIGHT * rows.max())
        seen, target_number = np.unique(target, return_inverse=True)
        settings = {} if weighted is None else {weighted: rows[sample, target]}
        made = clone(self.estimator)
        if len(seen) < 2:  # nothing to tell apart
            made, settings = DummyClassifier(strategy="prior"), {}
        made.fit(_safe_indexing(X, sample), target_number, **settings)
        made.true_classes_ = seen
        return made

    def _fold(self, given: Integers) -> Integers:
        """Return the fold of each sample, `(N,)`; every class is spread evenly over the folds."""
        draw = np.random.default_rng(self.seed)
        fold = np.empty(len(given), np.int64)
        dealt = 0
        for number in range(self.classes):
            members = draw.permutation(np.flatnonzero(given == number))
            fold[members] = (dealt + np.arange(len(members))) % self.folds
            dealt += len(members)
        return fold

    def _one(self, label: Integers) -> Floats:
        return np.eye(self.classes)[label]


def _fair(trusted: Floats, given: Integers) -> Floats:
    """Return the weights, but 1 for a class of which no label is trusted: it would be lost."""
    most = np.zeros(given.max() + 1)
    np.maximum.at(most, given, trusted)
    return np.where(most[given] > _LOST, trusted, 1.0)


def _weight_name(estimator: Any) -> str | None:
    """Return the name of the argument of `fit` that takes weights; None if there is none."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = _weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def _columns(X: Any) -> torch.Tensor | None:
    """Return standardised columns, `(N, D)`; None if X is no dense table of numbers."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return None
    table = X.astype(np.float64)
    there = np.isfinite(table)
    mean = np.where(there, table, 0).sum(0) / np.maximum(there.sum(0), 1)
    return standardised(torch.from_numpy(np.where(there, table, mean)))
