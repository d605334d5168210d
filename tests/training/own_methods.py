"""A complete method of a user's own: two views, an averaged student, and hooks of epochs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.methods import Method, Needs, Seen, Supervision, Task, Taught


class _Consistent(Supervision):
    def __init__(self, strength: float) -> None:
        self.strength, self.ramp, self.ended = strength, 0.0, 0

    def begin_epoch(self, epoch: int) -> None:
        self.ramp = self.strength * min(1.0, (epoch + 1) / 4)

    def end_epoch(self, epoch: int) -> None:
        assert epoch == self.ended
        self.ended += 1

    def teach(self, seen: Seen) -> Taught:
        assert seen.batch.second is not None
        assert seen.average is not None
        student = seen.look(seen.batch.second).softmax(1)
        teacher = seen.average(seen.batch.inputs).softmax(1)
        return Taught(seen.losses + self.ramp * (student - teacher).square().sum(1))

    def metrics(self) -> Mapping[str, Tensor | float]:
        return {"ramp": self.ramp, "ended": self.ended}

    def state_dict(self) -> dict[str, Any]:
        return {"ended": self.ended}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.ended = state["ended"]


@dataclass(frozen=True)
class MeanTeacher(Method):
    """The student agrees with its own average on another view of each sample.

    Args:
        strength: of the agreement.
    """

    name: ClassVar[str] = "mean-teacher"
    title: ClassVar[str] = "Mean teacher"
    summary: ClassVar[str] = "agrees with its own average on another view"
    strength: float = 1.0

    @property
    def needs(self) -> Needs:
        return Needs(second_view=True, student_average=0.9)

    def start(self, task: Task) -> Supervision:
        return _Consistent(self.strength)
