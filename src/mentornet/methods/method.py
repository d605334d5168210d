"""What every method is: settings at rest, and what it needs of a run."""

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
        true_labels: whether it looks at true labels.
        verdicts: whether it learns from what a person said of labels.
        students: how many students it trains side by side; two are a `Pair`.
        one_process: whether it keeps state that several processes cannot share.
        whole_batch: whether a batch cannot be worked through in parts.
        looks_again: whether the student's first look at a batch needs no gradient, because the
            method descends on a further look (`Seen.look`).
        second_view: whether it reads a second random view of each sample (`Batch.second`).
        student_average: decay of a moving average of the student's weights that it reads
            (`Seen.average`); None for none.
        dropout: what the student's dropout is to be, where the method decides it.
    """

    true_labels: bool = False
    verdicts: Literal["no", "optional", "required"] = "no"
    students: int = 1
    one_process: bool = False
    whole_batch: bool = False
    looks_again: bool = False
    second_view: bool = False
    student_average: float | None = None
    dropout: float | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What a method may know of the run that it serves.

    Attributes:
        count: N, the number of training samples.
        classes: K.
        total_steps: of the whole training.
        seed: of the method's random draws.
        device: where the losses will be.
        verdicts: what a person said of labels.
        is_correct: whether each given label is true, `(N,)`; only the oracle looks at it.
    """

    count: int
    classes: int
    total_steps: int
    seed: int = 0
    device: torch.device | str = "cpu"
    verdicts: Verdicts | None = None
    is_correct: Tensor | None = None


@dataclass(frozen=True)
class Method(ABC):
    """A row of the tables: its settings as fields, checked when they are given.

    Attributes:
        name: its name on the command line and in tables.
        title: its name in the paper.
        summary: one line that says what it does, for help texts and docs.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]

    @property
    def needs(self) -> Needs:
        """What it needs of a run."""
        return Needs()

    @abstractmethod
    def start(self, task: Task) -> Supervision:
        """The method at work on one run."""

    @property
    def settings(self) -> dict[str, Setting]:
        """The hyper-parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
