"""Settings that fit noisy labels best which were held out; every method has as many trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch import Generator

from benchmarks.real_noise.sets import Task
from benchmarks.real_noise.training import Recipe, default_recipe, run
from mentornet.randomness import generator

__all__ = ["TREES", "TRIALS", "best", "candidates", "trees", "trials"]

TRIALS = 12
TREES = "trees"
"""The student that is no network: gradient boosting of scikit-learn."""
_STREAM = 42  # of randomness
_EPOCHS = (5, 15, 30)
_RATES, _DECAYS = (0.25, 1.0, 4.0), (1 / 16, 0.25, 1.0, 4.0)  # times those of the recipe
_OWN: dict[str, dict[str, tuple[float, ...]]] = {
    "gce": {"q": (0.1, 0.3, 0.5, 0.7)},
    "elr": {"strength": (0.3, 1.0, 3.0, 7.0), "decay": (0.7, 0.9)},
}
"""Settings of the methods that are tuned too; in the first trial they are those of their papers."""
_TREES: dict[str, tuple[Any, ...]] = {
    "learning_rate": (0.03, 0.1, 0.2), "max_iter": (20, 50, 100), "max_leaf_nodes": (4, 8, 31),
    "l2_regularization": (0.0, 1.0, 10.0),
}  # fmt: skip


def candidates(student: str, task: Task, method: str, seed: int) -> list[Recipe]:
    """Return what is tried: the recipe of `mentornet train`, then others drawn at random.

    Epochs, learning rates and weight decays are the same for all methods.
    """
    first = default_recipe(student, task, method)
    common = {"epochs": _EPOCHS, "learning_rate": _RATES, "weight_decay": _DECAYS}
    own = _drawn(_OWN.get(method, {}), generator(seed, _STREAM, 1))
    found = [first]
    for drawn, settings in zip(_drawn(common, generator(seed, _STREAM)), own, strict=True):
        rate = first.learning_rate * drawn["learning_rate"]
        decay = first.weight_decay * drawn["weight_decay"]
        found.append(
            replace(
                first, epochs=int(drawn["epochs"]), learning_rate=rate, weight_decay=decay,
                settings=settings,
            )
        )  # fmt: skip
    return found


def trials(task: Task, student: str, method: str, seed: int) -> list[dict[str, Any]]:
    """Return what was tried, with the accuracy on given labels that were held out.

    Args:
        task: the data, of which a fifth of the training rows is held out.
        student: the student.
        method: the name of the method.
        seed: fixes which rows are held out, and what is tried.
    """
    part = task.trial(seed)
    if student == TREES:
        return [_of_trees(part, settings, seed) for settings in _tree_settings(seed)]
    return [
        {"settings": vars(recipe), "held_out": run(part, student, recipe, seed).accuracy}
        for recipe in candidates(student, task, method, seed)
    ]


def best(tried: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings of the best trial; of equal ones, those of the first."""
    found: dict[str, Any] = max(tried, key=lambda trial: float(trial["held_out"]))["settings"]
    return found


def trees(settings: dict[str, Any], seed: int) -> Any:
    """Return boosted trees with these settings, not trained yet."""
    return HistGradientBoostingClassifier(random_state=seed, **settings)


def _tree_settings(seed: int) -> list[dict[str, Any]]:
    """List what is tried of boosted trees: scikit-learn's own settings first."""
    return [{}, *_drawn(_TREES, generator(seed, _STREAM))]


def _of_trees(part: Task, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    model = trees(settings, seed).fit(part.x.numpy(), part.given.numpy())
    score = float(model.score(part.x_test.numpy(), part.y_test.numpy()))
    return {"settings": settings, "held_out": score}


def _drawn(values: Mapping[str, tuple[Any, ...]], draws: Generator) -> list[dict[str, Any]]:
    """Draw settings for all trials but the first; each value of a setting is as frequent."""
    count = TRIALS - 1
    columns = {}
    for name, options in values.items():
        order = torch.randperm(count, generator=draws).tolist()
        columns[name] = [options[place % len(options)] for place in order]
    return [{name: columns[name][trial] for name in columns} for trial in range(count)]
