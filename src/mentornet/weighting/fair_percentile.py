"""ℓ_pt that leaves out no class as a whole."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.weighting.percentile import PercentileEMA

__all__ = ["FairPercentile"]

_FAIR = 0.5  # of the share that is kept of all samples is kept of each class, at least
_PACE = 0.2  # η, by which a class's own level follows its losses
_ROWS = 1024  # classes told apart, as nobody says how many there are; more share a place
_START = -7.0  # log q before anything was seen: a level that nothing is below


class FairPercentile(PercentileEMA):
    """ℓ_pt of all samples, but for each class k at least q_k, its own (p/2)-th percentile.

    A class that the student has not learned when the first samples are left out may lie beyond
    ℓ_pt as a whole; it would then never be learned. So of each class at least about half the
    share is kept that is kept of all. Where classes are about as hard and their labels about as
    wrong as each other's, q_k < ℓ_pt, and this is `PercentileEMA` bit for bit.

    A starved class's losses rise fast, so q_k follows the samples of the class one by one:
    log q_k ← log q_k + η Σ (p/2 − [ℓ < q_k]), which stands still where a share p/2 is below q_k.
    With more than 1/η of them in a batch, η is one over their number.

    Args:
        percentile: p in [0, 1].
        decay: d of the level of all.

    >>> level = FairPercentile(percentile=0.5, decay=0.0)
    >>> losses, label = torch.tensor([0.1, 0.1, 0.1, 3.0]), torch.tensor([0, 0, 0, 1])
    >>> for _ in range(300):
    ...     levels = level.update(losses, label)
    >>> levels.round()
    tensor([0., 0., 0., 3.])
    """

    own: Tensor

    def __init__(self, percentile: float = 0.75, decay: float = 0.95) -> None:
        super().__init__(percentile, decay)
        self.register_buffer("own", torch.full((_ROWS,), _START))

    @torch.no_grad()
    def update(
        self, losses: Tensor, label: Tensor | None = None, *, percentile: Tensor | None = None
    ) -> Tensor:
        """Take in losses and given labels, `(B,)` each, and return ℓ_pt of each, `(B,)`."""
        assert label is not None
        level = super().update(losses, percentile=percentile)
        row = label % _ROWS
        share = _FAIR * (self.percentile if percentile is None else percentile)
        known = (~losses.isnan()).to(self.own.dtype)
        above = (share - (losses < self.own[row].exp()).to(self.own.dtype)) * known
        moves, seen = torch.zeros_like(self.own), torch.zeros_like(self.own)
        moves, seen = moves.index_add(0, row, above), seen.index_add(0, row, known)
        self.own = self.own + moves * (1 / seen.clamp(min=1 / _PACE))
        return torch.maximum(level, self.own[row].exp())
