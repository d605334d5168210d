"""What a person said of labels: which samples were looked at, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["LEAST", "OF_EACH_KIND", "Verdicts"]

LEAST = 10
"""A mentor cannot be learned from fewer verdicts than these."""

OF_EACH_KIND = 20
"""So many right and so many wrong labels must be known before learning from them is the default.

This is a judgement, not a measured optimum. In a small trial (digits, uniform noise of 0.4, 20
epochs) the weights of a mentor that learned from 5 of each had an AUROC of 0.87, 0.87 and 0.98, and
from 15 to 50 of each 0.98 to 0.99 in four runs. mentornet-auto, without verdicts, had 0.99, and its
student was more accurate in six of these seven runs, by 0.6 to 1.9 points of 360 test images.
"""


@dataclass(frozen=True, eq=False, init=False)
class Verdicts:
    """Samples that somebody has looked at, and whether the given label of each is right.

    A person can say one of three things. To keep a label means that it is right (`is_correct`). To
    relabel a sample means that its label is wrong, and what the right one is (`true_label`). To
    drop a sample means that its label is wrong, and nobody knows the right one (−1).

    Attributes:
        index: which samples, `(M,)`, int64.
        is_correct: whether the given label of each is right, `(M,)`, boolean.
        true_label: the right label of each, `(M,)`, int64; −1 where nobody said it, which is
            everywhere if this is left out.
    """

    index: Tensor
    is_correct: Tensor
    true_label: Tensor

    def __init__(self, index: Tensor, is_correct: Tensor, true_label: Tensor | None = None) -> None:
        label = torch.full_like(index, -1) if true_label is None else true_label
        for name, value in (("index", index), ("is_correct", is_correct), ("true_label", label)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, found: dict[int, int], given_label: Tensor) -> Verdicts:
        """Verdicts from the right label of each sample, sorted by their numbers.

        Args:
            found: the right label by the number of the sample; −1 if only known to be wrong.
            given_label: the label of every sample, `(N,)`.

        >>> verdicts = Verdicts.of({3: -1, 0: 5}, torch.tensor([5, 5, 5, 5]))
        >>> verdicts.index.tolist(), verdicts.is_correct.tolist(), verdicts.true_label.tolist()
        ([0, 3], [True, False], [5, -1])
        """
        index = torch.tensor(sorted(found), dtype=torch.long)
        right = torch.tensor([found[at] for at in sorted(found)], dtype=torch.long)
        return cls(index, given_label[index] == right, right)

    @classmethod
    def answers(
        cls,
        index: Sequence[int] | Tensor,
        is_correct: Sequence[bool] | Tensor,
        true_label: Sequence[int] | Tensor | None = None,
    ) -> Verdicts:
        """Verdicts from lists or tensors, as a person gives them; unchecked.

        >>> Verdicts.answers([3, 0], [True, False], [1, 2]).true_label
        tensor([1, 2])
        """
        label = None if true_label is None else torch.as_tensor(true_label).long()
        return cls(torch.as_tensor(index).long(), torch.as_tensor(is_correct), label)

    def __len__(self) -> int:
        """M."""
        return len(self.index)

    def to(self, device: torch.device | str) -> Verdicts:
        """The same verdicts on that device."""
        return Verdicts(
            self.index.to(device), self.is_correct.to(device), self.true_label.to(device)
        )

    def rows(self, which: Tensor) -> Verdicts:
        """The verdicts that `which` selects, `(M,)`, boolean."""
        return Verdicts(self.index[which], self.is_correct[which], self.true_label[which])

    def said(self, given_label: Tensor) -> Tensor:
        """The true class of each sample where these verdicts tell it, else −1, `(N,)`.

        >>> index, right = torch.tensor([0, 2]), torch.tensor([True, False])
        >>> verdicts = Verdicts(index, right, torch.tensor([5, 7]))
        >>> verdicts.said(torch.tensor([5, 5, 5])).tolist()
        [5, -1, 7]
        """
        found = torch.full_like(given_label, -1)
        given = given_label[self.index]
        found[self.index] = torch.where(self.is_correct, given, self.true_label.to(given))
        return found

    def followed_by(self, later: Verdicts) -> tuple[Verdicts, int]:
        """Both sets of verdicts as one, and how many of these verdicts the later ones replace.

        Where both name a sample, the later verdict holds; if it says the same, it replaces nothing.
        """
        ours = {at: place for place, at in enumerate(self.index.tolist())}
        both = [place for place, at in enumerate(later.index.tolist()) if at in ours]
        places = [ours[int(later.index[place])] for place in both]
        same = (self.true_label[places] == later.true_label[both]) & (
            self.is_correct[places] == later.is_correct[both]
        )
        stays = torch.ones(len(self), dtype=torch.bool)
        stays[places] = False
        parts = self.rows(stays), later
        index, order = torch.cat([part.index for part in parts]).sort()
        is_correct = torch.cat([part.is_correct for part in parts])[order]
        true_label = torch.cat([part.true_label for part in parts])[order]
        return Verdicts(index, is_correct, true_label), int((~same).sum())

    @property
    def missing(self) -> tuple[int, int]:
        """How many more right and how many more wrong labels it takes to learn from by default."""
        right = int(self.is_correct.sum())
        return max(0, OF_EACH_KIND - right), max(0, OF_EACH_KIND - (len(self) - right))

    def check(self, count: int) -> None:
        """Raise unless a mentor can learn from these: M ≥ 10 different samples out of `count`."""
        if self.index.shape != self.is_correct.shape or self.index.ndim != 1:
            raise MentorNetError(
                "one verdict a verified sample: got "
                f"{tuple(self.index.shape)} samples and {tuple(self.is_correct.shape)} verdicts"
            )
        if self.true_label.shape != self.index.shape:
            raise MentorNetError(
                f"one label a verified sample: got {tuple(self.index.shape)} samples and "
                f"{tuple(self.true_label.shape)} labels"
            )
        if self.is_correct.dtype != torch.bool:
            raise MentorNetError(f"verdicts must be boolean, got {self.is_correct.dtype}")
        if len(self) < LEAST:
            raise MentorNetError(
                f"a mentor cannot be learned from {len(self)} verified samples; "
                f"give at least {LEAST}, better 100"
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
                f"all {len(self)} verified labels are wrong; a mentor must also see some that "
                "are right"
            )
