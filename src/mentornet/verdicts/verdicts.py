"""What a person said of labels: which samples were looked at, and what was found."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["Verdicts"]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Samples that somebody has looked at: which they are, and whether their label is right.

    Attributes:
        index: which training samples, `(M,)`, int64.
        is_correct: whether the given label of each is correct, `(M,)`, boolean.
        true_label: the right label of each, `(M,)`, int64, −1 where it was not said; None where
            none was.
    """

    index: Tensor
    is_correct: Tensor
    true_label: Tensor | None = None

    def to(self, device: torch.device | str) -> Verdicts:
        """The same, on that device."""
        label = None if self.true_label is None else self.true_label.to(device)
        return Verdicts(self.index.to(device), self.is_correct.to(device), label)

    def rows(self, which: Tensor) -> Verdicts:
        """Those that `which` says, `(M,)`, boolean."""
        label = None if self.true_label is None else self.true_label[which]
        return Verdicts(self.index[which], self.is_correct[which], label)

    def check(self, count: int) -> None:
        """Raise unless these are M different samples out of `count`."""
        if self.index.shape != self.is_correct.shape or self.index.ndim != 1:
            raise MentorNetError(
                "one verdict a verified sample: got "
                f"{tuple(self.index.shape)} samples and {tuple(self.is_correct.shape)} verdicts"
            )
        if self.true_label is not None and self.true_label.shape != self.index.shape:
            raise MentorNetError(
                f"one label a verified sample: got {tuple(self.index.shape)} samples and "
                f"{tuple(self.true_label.shape)} labels"
            )
        if self.is_correct.dtype != torch.bool:
            raise MentorNetError(f"verdicts must be boolean, got {self.is_correct.dtype}")
        if len(self.index) < 10:
            raise MentorNetError(
                f"a mentor cannot be learned from {len(self.index)} verified samples; "
                "give at least 10, better 100"
            )
        unknown = (self.index < 0) | (self.index >= count)
        if unknown.any():
            raise MentorNetError(
                f"verified sample {int(self.index[unknown][0])} is not one of the "
                f"{count} training samples"
            )
        values, times = self.index.unique(return_counts=True)
        if (times > 1).any():
            raise MentorNetError(f"verified sample {int(values[times > 1][0])} is listed twice")
        if not self.is_correct.any():
            raise MentorNetError(
                f"all {len(self.index)} verified labels are wrong; is_correct must be true where "
                "the given label is right"
            )
