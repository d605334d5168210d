"""The rows of the table: one way to learn from labels that may be wrong, each."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score

from benchmarks.real_noise.sets import Task
from benchmarks.real_noise.training import Recipe, default_recipe, run
from benchmarks.real_noise.tuning import TREES, best, trees, trials
from mentornet.integrations.sklearn import MentorClassifier

__all__ = ["ROWS", "VERDICTS", "Student", "made_by", "rows_of"]

VERDICTS = 100
ROWS = {
    "plain": "plain training, tuned",
    "gce": "GCE, tuned",
    "elr": "ELR, tuned",
    "cleanlab": "CleanLearning",
    "ours": "ours, told nothing",
    "verdicts": f"ours, {VERDICTS} verdicts",
    "oracle": "oracle",
}
"""The rows and their titles."""
_METHODS = {"plain": "full-model", "gce": "gce", "elr": "elr"}
_OURS = {"head": "mentornet-features", "mlp": None}  # None for the default of `mentornet train`


def rows_of(student: str) -> list[str]:
    """Return the rows that a student can have; GCE and ELR are losses of networks."""
    return [row for row in ROWS if student != TREES or row not in ("gce", "elr")]


class Student(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Plain training of a student as a scikit-learn classifier, which cleanlab can clone.

    Args:
        student: the student.
        recipe: how it is trained.
        classes: the class names of the data.
        seed: the seed.
    """

    def __init__(self, student: str, recipe: Recipe, classes: tuple[str, ...], seed: int) -> None:
        self.student, self.recipe, self.classes, self.seed = student, recipe, classes, seed

    def fit(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> Student:  # noqa: N803
        """Train on vectors `(N, D)` and labels `(N,)`."""
        x, given = torch.from_numpy(X), torch.from_numpy(y)
        task = Task(x, given, given, x[:1], given[:1], self.classes)
        self.classes_ = np.arange(len(self.classes))
        self.predict_ = run(task, self.student, self.recipe, self.seed).predict
        return self

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of every class, `(N, K)`."""
        found: NDArray[np.float64] = self.predict_(torch.from_numpy(X)).double().numpy()
        return found

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.int64]:  # noqa: N803
        """Return the most probable class of every sample, `(N,)`."""
        return self.predict_proba(X).argmax(1)


def made_by(
    task: Task, student: str, row: str, seed: int, plain: dict[str, Any] | None
) -> dict[str, Any]:
    """Train in one way; return accuracy, average precision, time, and what was tried.

    Seconds are those of the processor on one thread, first of tuning and then of all that follows.

    Args:
        task: the data.
        student: "head", "mlp" or "trees".
        row: a key of `ROWS`.
        seed: the seed of everything that is random.
        plain: what this returned for the row "plain". Its settings are those of cleanlab, of the
            oracle and of all boosted trees; only "plain" itself can do without.
    """
    started = time.process_time()
    tuning, tried, settings = 0.0, [], {}
    if row in _METHODS:
        tried = trials(task, student, _METHODS[row], seed)
        tuning, settings = time.process_time() - started, best(tried)
    elif student == TREES or row in ("cleanlab", "oracle"):
        assert plain is not None
        tuning, settings = plain["seconds_of_tuning"], plain["settings"]
    elif student != TREES:
        settings = vars(default_recipe(student, task, _OURS[student]))
    begun = time.process_time()
    if row == "cleanlab":
        found = _cleanlab(task, student, settings, seed)
    elif student == TREES:
        found = _trees(task, row, settings, seed)
    else:
        found = _network(task, student, row, Recipe(**settings), seed)
    return {
        **found, "wrong": task.wrong.double().mean().item(), "settings": settings,
        "seconds_of_tuning": tuning, "seconds": time.process_time() - begun, "tried": tried,
    }  # fmt: skip


def _network(task: Task, student: str, row: str, recipe: Recipe, seed: int) -> dict[str, Any]:
    if row == "oracle":
        recipe = replace(recipe, method="oracle")
    made = run(task, student, recipe, seed, verdicts=VERDICTS if row == "verdicts" else 0)
    audit = {} if row == "oracle" else _found(task, made.quality, ~made.told)
    return {"accuracy": made.accuracy, **audit, "method": made.method}


def _trees(task: Task, row: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    x, given, wrong = task.x.numpy(), task.given.numpy(), task.wrong.numpy()
    told, audit = np.zeros(len(given), bool), {}
    if row in ("plain", "oracle"):
        kept = ~wrong if row == "oracle" else ~told
        model = trees(settings, seed).fit(x[kept], given[kept])
    else:
        if row == "verdicts":
            told[np.random.default_rng(seed).permutation(len(given))[:VERDICTS]] = True
        model = MentorClassifier(estimator=trees(settings, seed), random_state=seed)
        model.fit(x, given, true_y=np.where(told, task.true.numpy(), np.nan))
        audit = _found(task, model.label_quality_, ~told)
    accuracy = float((model.predict(task.x_test.numpy()) == task.y_test.numpy()).mean())
    return {"accuracy": accuracy, **audit}


def _cleanlab(task: Task, student: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    from cleanlab.classification import CleanLearning

    if student == TREES:
        plain = trees(settings, seed)
    else:
        plain = Student(student, Recipe(**settings), task.classes, seed)
    model = CleanLearning(plain, cv_n_folds=5, seed=seed)
    model.fit(task.x.numpy(), task.given.numpy())
    accuracy = float((model.predict(task.x_test.numpy()) == task.y_test.numpy()).mean())
    quality = model.get_label_issues().label_quality.to_numpy()
    return {"accuracy": accuracy, **_found(task, quality)}


def _found(
    task: Task, quality: NDArray[np.float64], among: NDArray[np.bool_] | None = None
) -> dict[str, float]:
    """Return the average precision of a ranking, among the rows without a verdict."""
    rows = np.ones(len(quality), bool) if among is None else among
    score = average_precision_score(task.wrong.numpy()[rows], -quality[rows])
    return {"average_precision": float(score)}
