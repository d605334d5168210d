"""Who is told what happens in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Observer", "StepFigures"]


@dataclass(frozen=True)
class StepFigures:
    """Where the run is: steps done, of how many, and the figures of the last step."""

    done: int
    total: int
    loss: float
    mean_weight: float


class Observer:
    """Told what happens; this one does not care."""

    def step(self, figures: StepFigures) -> None:
        """A few times a second."""

    def epoch(self, row: Mapping[str, Any]) -> None:
        """After every epoch, with its line of `metrics.jsonl`."""

    def note(self, text: str) -> None:
        """Something worth a line."""
