"""The moving average of every sample's own losses."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["SmoothedLoss"]


class SmoothedLoss(nn.Module):
    """ℓ̄ ← s ℓ̄ + (1 − s) ℓ for each of N samples, from ℓ̄ = ℓ at first sight.

    One look at a sample depends on how it was cropped and on what the student has just seen; the
    average of several tells wrong labels better.

    Args:
        count: N.
        decay: s in [0, 1).
    """

    average: Tensor

    def __init__(self, count: int, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("average", torch.full((count,), torch.nan))

    @torch.no_grad()
    def push(self, index: Tensor, loss: Tensor) -> Tensor:
        """Take in the losses of the samples at `index`, and return ℓ̄, `(B,)`.

        What is no finite number is returned as it is, and leaves no trace.
        """
        before = self.average[index]
        moved = self.decay * before + (1 - self.decay) * loss.to(before.dtype)
        moved = torch.where(before.isnan(), loss.to(before.dtype), moved)
        finite = loss.isfinite()
        self.average[index] = torch.where(finite, moved, before)
        return torch.where(finite, moved.to(loss.dtype), loss)
