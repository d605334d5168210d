"""One training run of a student by the trainer of `mentornet train`, and its audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.real_noise.sets import Task
from benchmarks.real_noise.students import HEAD
from mentornet.audit import rank
from mentornet.audit.evidence import by_weights, evidence_of
from mentornet.config import (
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.records import columns_of
from mentornet.training import Trainer, prepare
from mentornet.training.recipes import Facts, head_recipe, recipe_for

__all__ = ["STUDENTS", "Recipe", "Trained", "default_recipe", "run"]

STUDENTS = {"head": HEAD, "mlp": "mlp"}
"""The students that are networks, and their names in a config."""
BATCH = 64  # of the recipes of both


@dataclass(frozen=True)
class Recipe:
    """What is tuned: the method with its settings, and how the student is optimised."""

    method: str | None
    epochs: int
    learning_rate: float
    weight_decay: float
    settings: Mapping[str, float] = field(default_factory=dict)


class Trained(NamedTuple):
    """What comes out of a run.

    Attributes:
        accuracy: of the labels in `Task.y_test`, in [0, 1].
        quality: the audit's score of each training label, `(N,)`; low is suspect.
        told: whether a verdict on the label was given, `(N,)`.
        method: the method in use.
        predict: a function from vectors `(M, D)` to probabilities `(M, K)`.
    """

    accuracy: float
    quality: NDArray[np.float64]
    told: NDArray[np.bool_]
    method: str
    predict: Any


def default_recipe(student: str, task: Task, method: str | None) -> Recipe:
    """Return what `mentornet train` does with these samples if nothing is set."""
    count, width = task.x.shape
    if student == "head":
        found = head_recipe(count)
    else:
        found = recipe_for(Facts((width,), count, streamed=False, kind="vectors"))
    return Recipe(method, found.epochs, found.learning_rate, found.weight_decay)


def run(task: Task, student: str, recipe: Recipe, seed: int, *, verdicts: int = 0) -> Trained:
    """Train a student.

    Args:
        task: the data.
        student: a key of `STUDENTS`.
        recipe: the method and how the student is optimised; the batches and the schedule are those
            of `mentornet train`.
        seed: the seed of the run.
        verdicts: on how many labels, drawn at random, the method is told the truth.
    """
    config = TrainConfig(
        "real-noise", seed=seed, student=StudentConfig(STUDENTS[student]),
        labels=LabelsConfig(clean_count=verdicts or None),
        method=MethodConfig(
            recipe.method, tuple(f"{name}={value}" for name, value in recipe.settings.items())
        ),
        optimiser=OptimiserConfig(
            epochs=recipe.epochs, learning_rate=recipe.learning_rate,
            weight_decay=recipe.weight_decay, batch_size=min(BATCH, len(task.given)),
            evaluate_every=recipe.epochs,
        ),
        machine=MachineConfig(precision="32", compile="off", channels_last="off"),
    )  # fmt: skip
    prepared = prepare(config, splits=task.splits)
    trainer = Trainer(prepared)
    summary = trainer.fit()
    columns = columns_of(trainer.records.state_dict()) | {
        "index": np.arange(len(task.given)),
        "given_label": task.given.numpy(),
    }
    evidence = evidence_of(columns)
    if prepared.method.judges:
        evidence = by_weights(evidence)
    told = np.zeros(len(task.given), bool)
    if prepared.verdicts is not None:
        told[prepared.verdicts.index.numpy()] = True
    trainer.student.eval()

    @torch.no_grad()
    def predict(x: Tensor) -> Tensor:
        found: Tensor = trainer.module(x).softmax(1)
        return found

    return Trained(
        summary["accuracy_last"], rank(evidence).quality, told, prepared.config.method.method or "",
        predict,
    )  # fmt: skip
