"""Prune and retrain: confident learning finds wrong labels first (Northcutt et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Supervision, Task
from mentornet.methods.oracle import Kept

__all__ = ["CleanlabPrune"]


@dataclass(frozen=True)
class CleanlabPrune(Method):
    """Leave out what cleanlab finds in cross-validated predictions, and train on the rest.

    What is left out keeps its place in the batches, with weight 0, as for the oracle.

    Before the run itself, `folds` students are trained plainly, each on all but its fold, so this
    costs about `length` × (`folds` − 1) runs more than plain training.

    Args:
        folds: of the cross-validation.
        length: of its trainings, as a share of the run's epochs, in (0, 1]. Shorter ones cost less,
            and have learned fewer wrong labels by heart.
    """

    name: ClassVar[str] = "cleanlab-prune"
    title: ClassVar[str] = "cleanlab, prune"
    shares: ClassVar[bool] = False
    folds: int = 4
    length: float = 1.0

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise MentorNetError(f"folds must be ≥ 2, got {self.folds}")
        if not 0 < self.length <= 1:
            raise MentorNetError(f"length must be in (0, 1], got {self.length:g}")

    @property
    def prunes_by(self) -> int:
        return self.folds

    @property
    def prunes_in(self) -> float:
        return self.length

    def start(self, task: Task) -> Supervision:
        if task.kept is None:
            raise MentorNetError("cleanlab-prune trains on what cross-validation has kept")
        return Kept(task.kept.to(task.device))
