"""A histogram of recent losses, which is cheap to update in every step.

Shapes: R rows (one per class, or a single one), 64 bins.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["BINS", "LossHistogram", "edges"]

BINS = 64
_LOW, _HIGH = -7.0, 3.5  # range of log ℓ: ℓ from 0.001 to 33


def edges() -> Tensor:
    """Return the 63 edges between the bins, evenly spaced in log ℓ; the outer bins are open."""
    return torch.linspace(_LOW, _HIGH, BINS - 1).exp()


class LossHistogram(nn.Module):
    """Decaying counts of losses per bin: h ← d h + (counts of the batch).

    Args:
        rows: R, the number of histograms.
        decay: d in [0, 1), the factor of older counts in each step.
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
        """Add losses `(B,)`, all to one row or each to its own; NaN values are ignored."""
        bins = torch.bucketize(losses.float(), self.edges)
        counted = (~losses.isnan()).to(self.counts.dtype)
        rows = torch.as_tensor(row, device=bins.device).expand(len(bins))
        flat = torch.zeros_like(self.counts).flatten()
        added = flat.index_add(0, rows * BINS + bins, counted).view_as(self.counts)
        self.counts = self.counts * self.decay + added

    def shares(self) -> Tensor:
        """Return each row as shares that sum to 1, `(R, 64)`; an empty row is 0."""
        return self.counts / self.counts.sum(1, keepdim=True).clamp(min=1e-12)
