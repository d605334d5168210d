"""What the verified labels are worth by themselves: the measure of a mentor learned from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Supervision, Task
from mentornet.verdicts.lookup import VerdictLookup

__all__ = ["VerifiedMethod"]


class _Verified(Supervision):
    weighs = True

    known: VerdictLookup

    def __init__(self, known: VerdictLookup, others: float) -> None:
        self.known, self.others = known, others

    def weights(self, losses: Tensor, batch: Batch, learning_rate: float) -> Tensor | None:
        return self.known.weigh(torch.full_like(losses, self.others), batch.index)


@dataclass(frozen=True)
class VerifiedMethod(Method):
    """v = v* for verified samples, with the right label where it is known; no mentor.

    They come in the same batches as with every other method.

    Args:
        others: weight of all other samples; with 1 it is FullModel with what was found wrong put
            right, with 0 only verified ones are learned.
    """

    name: ClassVar[str] = "verified"
    title: ClassVar[str] = "Verified"
    others: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.others <= 1:
            raise MentorNetError(f"others must be in [0, 1], got {self.others:g}")

    @property
    def needs_verified(self) -> bool:
        return True

    def start(self, task: Task) -> Supervision:
        if task.verified is None:
            raise MentorNetError("verified learns from verified samples, and there are none")
        return _Verified(VerdictLookup(task.verified), self.others)
