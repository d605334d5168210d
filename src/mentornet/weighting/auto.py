"""What "auto" does with an estimated noise rate: it finds the percentile p of ℓ_pt by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["AutoPercentile"]

_MARGIN = 1.2  # this many times the estimated share of wrong labels is left out
_CLEAN = 0.06  # a share of surely wrong labels below which less and less is left out
_LEARNED, _NOTHING = 0.7, 0.8  # beyond such shares the student may just know nothing yet
_MOST = 0.95  # of the samples are left out at most


class AutoPercentile(nn.Module):
    """p = 1 − 1.2 ε min(1, (ε_sure / 0.06)²): if labels are wrong, better one right one too few.

    Where hardly any label is surely wrong, what looks wrong is mostly hard, and is kept. Where
    nearly all are (0.8 and more), the student still knows nothing, and nothing is left out by it.

    >>> auto, settled = AutoPercentile(), torch.tensor(True)
    >>> auto(torch.tensor([0.3, 0.25, 0.2]), settled)
    tensor(0.7000)
    >>> auto(torch.tensor([0.3, 0.25, 0.006]), settled)
    tensor(0.9970)
    """

    unit: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("unit", torch.zeros(()))

    def forward(self, rates: Tensor, settled: Tensor) -> Tensor:
        """p, a scalar in [0, 1]; 1 while the student has not settled.

        Args:
            rates: three estimates of the share of wrong labels, `(3,)`, as in `NoiseRate.average`;
                the second is ε, which is safe to act on, and the third ε_sure.
            settled: whether the student has learned enough to be asked, a boolean scalar.
        """
        _, rate, sure = rates
        wrong = (sure / _CLEAN).clamp(max=1).square()
        knows = ((_NOTHING - sure) / (_NOTHING - _LEARNED)).clamp(0, 1)
        left_out = _MARGIN * rate * wrong * knows
        return 1 - torch.where(settled, left_out.clamp(max=_MOST), 0.0)

    @torch.no_grad()
    def measured(self, losses: Tensor) -> Tensor:
        """ℓ of unknown scale, `(B,)`, in units of half its mean in the first batch.

        The curriculum fades out over one unit of loss, which suits cross-entropy.
        """
        first = losses.nanmean().float() / 2
        self.unit = torch.where(self.unit > 0, self.unit, first)
        return losses / torch.where(self.unit > 0, self.unit, 1.0).to(losses.dtype)
