"""Who is told about the progress of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Observer", "StepMetrics"]


@dataclass(frozen=True)
class StepMetrics:
    """The metrics of one step.

    Attributes:
        done: the number of steps so far.
        total: the number of steps of the whole run.
        loss: the loss of this step.
        mean_weight: the mean weight v of this step.
    """

    done: int
    total: int
    loss: float
    mean_weight: float


class Observer:
    """Receives what happens in a run. This one ignores it; override what you want to know.

    Attributes:
        wants_time: whether a note should say beforehand how long a run of minutes will take.
    """

    wants_time: bool = False

    def step(self, metrics: StepMetrics) -> None:
        """Called a few times a second, with the metrics of the last step."""

    def epoch(self, row: Mapping[str, Any]) -> None:
        """Called after every epoch, with its line of `metrics.jsonl`."""

    def preparing(self, what: str, done: int, total: int) -> None:
        """Called before the first step, while something takes long: `done` of `total` are ready."""

    def note(self, text: str) -> None:
        """Called with a line that the user should read."""
