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

    def __init__(self, rows: int = 1, decay: float = 0.98) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("counts", torch.zeros(rows, BINS))
        self.register_buffer("edges", edges(), persistent=False)

    @torch.no_grad()
    def update(self, losses: Tensor, row: Tensor | int = 0) -> None:
        """Take in losses `(B,)`, all into one row or each into its own; NaN does not count."""
        bins = torch.bucketize(losses.float(), self.edges)
        counted = (~losses.isnan()).to(self.counts.dtype)
        rows = torch.as_tensor(row, device=bins.device).expand(len(bins))
        flat = torch.zeros_like(self.counts).flatten()
        added = flat.index_add(0, rows * BINS + bins, counted).view_as(self.counts)
        self.counts = self.counts * self.decay + added

    def shares(self) -> Tensor:
        """Each row as shares that sum to 1, `(R, 64)`; 0 where nothing was seen."""
        return self.counts / self.counts.sum(1, keepdim=True).clamp(min=1e-12)
