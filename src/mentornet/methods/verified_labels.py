"""What is known of verified samples, and need not be guessed."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.criterion import Verified

__all__ = ["VerifiedLabels"]


class VerifiedLabels:
    """v* and, where it was said, the right label of the samples that somebody has looked at.

    Args:
        verified: those.
        count: N, the training samples.

    >>> verified = Verified(torch.tensor([0, 2]), torch.tensor([True, False]), torch.tensor([5, 7]))
    >>> known, both = VerifiedLabels(verified, count=3), torch.tensor([0, 1, 2])
    >>> known.weigh(torch.tensor([0.2, 0.3, 0.4]), both)
    tensor([1.0000, 0.3000, 0.0000])
    >>> known.correct(torch.tensor([5, 5, 5]), both)
    tensor([5, 5, 7])
    """

    def __init__(self, verified: Verified, count: int) -> None:
        index, device = verified.index, verified.index.device
        self._weight = torch.full((count,), torch.nan, device=device)
        self._weight[index] = verified.is_correct.float()
        self._label = torch.full((count,), -1, device=device)
        if verified.label is not None:
            self._label[index] = verified.label

    def weigh(self, weights: Tensor, index: Tensor) -> Tensor:
        """Weights of the samples at `index`, `(B,)`, with v* where that is known."""
        known = self._weight[index].to(weights.dtype)
        return torch.where(known.isnan(), weights, known)

    def correct(self, given_label: Tensor, index: Tensor) -> Tensor:
        """The labels of the samples at `index`, `(B,)`, with the right ones where known."""
        label = self._label[index]
        return torch.where(label < 0, given_label, label)

    def teach(self, weights: Tensor, given_label: Tensor, index: Tensor) -> Tensor:
        """How much of each label is learned, `(B,)`: v, or 1 of a right one in a wrong one's place.

        v is of the given label, and 0 where that is known to be wrong.
        """
        taught = self.correct(given_label, index)
        return torch.where(taught == given_label, weights, 1.0)
