"""The oracle: the result of a mentor that makes no mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Supervision
from mentornet.weighting import Evidence

__all__ = ["Oracle"]


class _Oracle(Supervision):
    weighs = True

    def __init__(self, is_correct: Tensor) -> None:
        self.is_correct = is_correct

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        return self.is_correct[evidence.index].to(evidence.losses.dtype)


@dataclass(frozen=True)
class Oracle(Method):
    """v = v*: only samples whose given label is correct are learned, from the first step on.

    They come in the same batches as with every other method, so the oracle is the limit of what
    weights can do in as many steps.
    """

    name: ClassVar[str] = "oracle"
    title: ClassVar[str] = "Oracle"
    summary: ClassVar[str] = "learns only correct labels: the limit of what weights can do"

    @property
    def needs(self) -> Needs:
        return Needs(true_labels=True)

    def start(self, task: Task) -> Supervision:
        if task.is_correct is None:
            raise MentorNetError("the oracle needs true labels, which this data does not have")
        return _Oracle(task.is_correct.to(task.device))
