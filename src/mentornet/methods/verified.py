"""Verdicts without a mentor: a baseline for mentors that are learned from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Supervision
from mentornet.verdicts import VerdictLookup
from mentornet.weighting import Evidence

__all__ = ["VerifiedMethod"]


class _Verified(Supervision):
    weighs = True

    known: VerdictLookup

    def __init__(self, known: VerdictLookup, others: float) -> None:
        self.known, self.others = known, others

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        assert evidence.index is not None
        return self.known.weigh(torch.full_like(evidence.losses, self.others), evidence.index)


@dataclass(frozen=True)
class VerifiedMethod(Method):
    """v = v* for verified samples, with their true labels where these are known; no mentor.

    They come in the same batches as with every other method.

    Args:
        others: weight of all other samples, in [0, 1]. With 1 this is FullModel with corrected
            labels; with 0 only verified samples are learned.
    """

    name: ClassVar[str] = "verified"
    title: ClassVar[str] = "Verified"
    summary: ClassVar[str] = "applies verdicts, without a mentor"
    others: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.others <= 1:
            raise MentorNetError(f"others must be in [0, 1], got {self.others:g}")

    @property
    def needs(self) -> Needs:
        return Needs(verdicts="required")

    def start(self, task: Task) -> Supervision:
        if task.verdicts is None:
            raise MentorNetError("verified learns from verified samples, but there are none")
        return _Verified(VerdictLookup(task.verdicts), self.others)
