"""The base class of all methods: their settings, and what they need of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

import torch
from torch import Tensor

from mentornet.methods.supervision import Supervision
from mentornet.verdicts import Verdicts

__all__ = ["Method", "Needs", "Setting", "Task"]

Setting = float | bool | str | tuple[float, ...]


@dataclass(frozen=True)
class Needs:
    """What a method needs of a run.

    Attributes:
        true_labels: whether it reads true labels.
        verdicts: whether it learns from verdicts.
        students: the number of students that it trains together; two are a `Pair`.
        one_process: whether it has state that several processes cannot share.
        whole_batch: whether a batch cannot be split into parts (`accumulate`).
        looks_again: whether the first forward pass of a batch needs no gradient, because the
            method takes the gradient of a further one (`Seen.look`).
        blends: whether it trains on blends of two samples, so that inputs must be numbers.
        second_view: whether it reads a second random view of each sample (`Batch.second`).
        student_average: decay of a moving average of the student's parameters that it reads
            (`Seen.average`); None for no average.
        features: whether it reads the samples as vectors, such as features of a frozen student.
        dropout: the dropout that it sets in the student; None to leave it to the user.
    """

    true_labels: bool = False
    verdicts: Literal["no", "optional", "required"] = "no"
    students: int = 1
    one_process: bool = False
    whole_batch: bool = False
    looks_again: bool = False
    blends: bool = False
    second_view: bool = False
    student_average: float | None = None
    features: bool = False
    dropout: float | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What a method knows of its run.

    Attributes:
        count: N, the number of training samples.
        classes: K, the number of classes.
        total_steps: the number of steps of the whole training.
        seed: seed of the method's random draws.
        device: the device of the losses.
        verdicts: the verdicts on labels, or None.
        is_correct: whether each given label is correct, `(N,)`; only the oracle reads it.
        features: the samples, `(N, D)`, if they are features (see `Needs.features`).
        given_label: `(N,)`; like the features, for a method that begins before the first step.
    """

    count: int
    classes: int
    total_steps: int
    seed: int = 0
    device: torch.device | str = "cpu"
    verdicts: Verdicts | None = None
    is_correct: Tensor | None = None
    features: Tensor | None = None
    given_label: Tensor | None = None


@dataclass(frozen=True)
class Method(ABC):
    """A way to train a student; its settings are fields, which the constructor checks.

    Attributes:
        name: its name on the command line and in tables.
        title: its name in the paper.
        summary: one line that says what it does, for help texts and docs.
        judges: whether its weights are the probabilities that labels are correct, found before the
            first step by classifiers that have not seen them. The audit then ranks labels by them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    judges: ClassVar[bool] = False

    @property
    def needs(self) -> Needs:
        """What the method needs of a run."""
        return Needs()

    @abstractmethod
    def start(self, task: Task) -> Supervision:
        """Return the supervision of one run."""

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
