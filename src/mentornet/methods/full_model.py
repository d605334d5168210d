"""FullModel and Forgetting: plain training on all given labels (§5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Supervision

__all__ = ["Forgetting", "FullModel"]


@dataclass(frozen=True)
class FullModel(Method):
    """Plain training: the mean cross-entropy of all samples."""

    name: ClassVar[str] = "full-model"
    title: ClassVar[str] = "FullModel"
    summary: ClassVar[str] = "plain training on all given labels"

    def start(self, task: Task) -> Supervision:
        return Supervision()


@dataclass(frozen=True)
class Forgetting(FullModel):
    """FullModel with strong dropout in the student (Arpit et al. 2017; App. E).

    Args:
        dropout: share of the features that is dropped, in [0, 1); the paper tries 0.2 to 0.9.
    """

    name: ClassVar[str] = "forgetting"
    title: ClassVar[str] = "Forgetting"
    summary: ClassVar[str] = "plain training with strong dropout"
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1:
            raise MentorNetError(f"dropout must be in [0, 1), got {self.dropout:g}")

    @property
    def needs(self) -> Needs:
        return Needs(dropout=self.dropout)
