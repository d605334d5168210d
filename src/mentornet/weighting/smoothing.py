"""A moving average of the losses of every sample."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["SmoothedLoss"]


class SmoothedLoss(nn.Module):
    """ℓ̄ ← s ℓ̄ + (1 − s) ℓ for each of N samples, starting with its first loss.

    A single loss depends on the random crop and on what the student has just learned. The average
    of several losses separates wrong labels better.

    Args:
        count: N, the number of training samples.
        decay: s in [0, 1).
    """

    average: Tensor

    def __init__(self, count: int, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("average", torch.full((count,), torch.nan))

    @torch.no_grad()
    def push(self, index: Tensor, loss: Tensor) -> Tensor:
        """Update the averages of the samples at `index`, and return ℓ̄, `(B,)`.

        A loss that is not finite is returned unchanged, and changes no average.
        """
        before = self.average[index]
        moved = self.decay * before + (1 - self.decay) * loss.to(before.dtype)
        moved = torch.where(before.isnan(), loss.to(before.dtype), moved)
        finite = loss.isfinite()
        self.average[index] = torch.where(finite, moved, before)
        return torch.where(finite, moved.to(loss.dtype), loss)
