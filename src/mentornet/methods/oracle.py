"""The oracle: what a mentor that makes no mistake would reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Supervision, Task

__all__ = ["Kept", "Oracle"]


class Kept(Supervision):
    """v = 1 for the samples that are kept, 0 for the others.

    Args:
        kept: `(N,)`, boolean.
    """

    weighs = True

    def __init__(self, kept: Tensor) -> None:
        self.kept = kept

    def weights(self, losses: Tensor, batch: Batch, learning_rate: float) -> Tensor | None:
        return self.kept[batch.index].to(losses.dtype)


@dataclass(frozen=True)
class Oracle(Method):
    """v = v*: only samples whose given label is true are learned, from the first step on.

    They come in the same batches as with every other method, so the oracle is the limit of what
    weights can do in as many steps.
    """

    name: ClassVar[str] = "oracle"
    title: ClassVar[str] = "Oracle"
    needs_truth: ClassVar[bool] = True

    def start(self, task: Task) -> Supervision:
        if task.is_correct is None:
            raise MentorNetError("the oracle needs true labels, which this data does not have")
        return Kept(task.is_correct.to(task.device))
