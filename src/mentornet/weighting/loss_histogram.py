"""Recent losses as counts in bins: a sketch of their distribution that a step can afford.

Shapes: R rows (one a class, or one in all), 64 bins.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["BINS", "LossHistogram", "edges"]

BINS = 64
_LOW, _HIGH = -7.0, 3.5  # of log ℓ: from 0.001 to 33


def edges() -> Tensor:
    """The 63 losses between the bins, evenly spaced in log ℓ; the outer bins are open."""
    return torch.linspace(_LOW, _HIGH, BINS - 1).exp()


class LossHistogram(nn.Module):
    """Counts of losses that fade: h ← d h + (what the batch adds).

    Args:
        rows: R, how many distributions are kept.
        decay: d, by which older batches count less.
    """

    counts: Tensor
    edges: Tensor
    first: Tensor

    def __init__(self, rows: int = 1, decay: float = 0.98) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("counts", torch.zeros(rows, BINS))
        self.register_buffer("edges", edges(), persistent=False)
        self.register_buffer("first", torch.arange(rows)[:, None] * BINS, persistent=False)

    @torch.no_grad()
    def update(self, losses: Tensor, row: Tensor | None = None) -> None:
        """Take in the losses of a batch; NaN does not count.

        Args:
            losses: `(R, B)`, one row for each distribution; or `(B,)` with `row`.
            row: the distribution that each loss belongs to, `(B,)`.
        """
        bins = torch.bucketize(losses.float(), self.edges)
        counted = (~losses.isnan()).to(self.counts.dtype)
        place = bins + (self.first if row is None else row * BINS)
        flat = torch.zeros_like(self.counts).view(-1)
        flat.index_add_(0, place.view(-1), counted.view(-1))
        self.counts = self.counts * self.decay + flat.view_as(self.counts)

    def shares(self) -> Tensor:
        """Each row as shares that sum to 1, `(R, 64)`; 0 where nothing was seen."""
        return self.counts / self.counts.sum(1, keepdim=True).clamp(min=1e-12)
