"""Looks up what is known of verified samples, so that it need not be estimated."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.verdicts.verdicts import Verdicts

__all__ = ["VerdictLookup"]


class VerdictLookup:
    """Gives v* and, where somebody said it, the right label of the samples of a batch.

    Samples are found by their numbers, so that those without a verdict take no memory.

    Args:
        verified: the verdicts, M ≥ 1.

    >>> verified = Verdicts(torch.tensor([0, 2]), torch.tensor([True, False]), torch.tensor([5, 7]))
    >>> known, index = VerdictLookup(verified), torch.tensor([0, 1, 2])
    >>> known.correct(torch.tensor([5, 5, 5]), index)
    tensor([5, 5, 7])
    >>> known.weigh(torch.tensor([0.2, 0.3, 0.4]), index)
    tensor([1.0000, 0.3000, 1.0000])
    >>> known.trust(torch.tensor([0.2, 0.3, 0.4]), index)
    tensor([1.0000, 0.3000, 0.0000])
    """

    def __init__(self, verified: Verdicts) -> None:
        self._index, order = verified.index.sort()
        self._is_correct = verified.is_correct[order]
        self._true_label = verified.true_label[order]
        self._weight = self._is_correct | (self._true_label >= 0)

    def weigh(self, weights: Tensor, index: Tensor) -> Tensor:
        """Weights of what is taught at `index`, `(B,)`: 1 where a right label is known, or v*."""
        row, found = self._find(index)
        return torch.where(found, self._weight[row].to(weights.dtype), weights)

    def trust(self, weights: Tensor, index: Tensor) -> Tensor:
        """Weights of the given labels at `index`, `(B,)`, with v* where that is known."""
        row, found = self._find(index)
        return torch.where(found, self._is_correct[row].to(weights.dtype), weights)

    def correct(self, given_label: Tensor, index: Tensor) -> Tensor:
        """The labels of the samples at `index`, `(B,)`, with the right ones where known."""
        row, found = self._find(index)
        label = self._true_label[row]
        return torch.where(found & (label >= 0), label, given_label)

    def _find(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """The row of each sample, and whether it has one."""
        row = torch.searchsorted(self._index, index).clamp(max=len(self._index) - 1)
        return row, self._index[row] == index
