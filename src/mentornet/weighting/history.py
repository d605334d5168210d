"""The last T losses of every sample, for mentors that read a history."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["LossHistory"]


class LossHistory(nn.Module):
    """A window of T losses and differences for each of N samples, newest last.

    If a sample was seen fewer than T times, its oldest loss fills the places before.

    Args:
        count: N, the number of training samples.
        steps: T, the number of losses per sample.
        dtype: dtype of the stored window; float16 halves the memory.
    """

    window: Tensor

    def __init__(self, count: int, steps: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.register_buffer("window", torch.full((count, 2, steps), torch.nan, dtype=dtype))

    @torch.no_grad()
    def push(self, index: Tensor, loss: Tensor, difference: Tensor) -> tuple[Tensor, Tensor]:
        """Add the newest loss of the samples at `index`, unless NaN, and return their windows.

        Returns:
            The losses and the differences, each `(B, T)` in the dtype of `loss`.
        """
        newest = torch.stack([loss, difference], dim=1).to(self.window.dtype)
        before = self.window[index]
        unseen = before[:, :, -1:].isnan()
        before = torch.where(unseen, newest[:, :, None], before)
        window = torch.cat([before[:, :, 1:], newest[:, :, None]], dim=2)
        window = torch.where(newest.isnan().any(1)[:, None, None], self.window[index], window)
        self.window[index] = window
        losses, differences = window.to(loss.dtype).unbind(1)
        return losses, differences
