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

    The paper tunes "the dropout parameter" in 0.2–0.9. This is the probability to keep a feature:
    its neighbours in App. E are keep probabilities, and on ImageNet "it" is set to 0.2, the best
    one found on CIFAR-100, where the default keep probability is 0.8.

    Args:
        dropout: share of the features that is dropped, in [0, 1). To keep 0.9, 0.8, …, 0.2, as the
            paper does, is 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7 and 0.8 here; its tables try all eight.
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
