"""What "auto" does with an estimated noise rate: it finds the percentile p of ℓ_pt by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["AutoPercentile"]

_MARGIN = 1.2  # this many times the estimated share of wrong labels is left out
_CLEAN = 0.05  # a share of wrong labels below which less and less is left out
_MOST = 0.95  # of the samples are left out at most


class AutoPercentile(nn.Module):
    """p = 1 − 1.2 ε: a right label left out costs less than a wrong one learned.

    Where ε is below a twentieth it is 1 − 24 ε²: what looks wrong is then mostly hard.

    >>> AutoPercentile()(torch.tensor(0.25), settled=torch.tensor(True))
    tensor(0.7000)
    """

    unit: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("unit", torch.zeros(()))

    def forward(self, rate: Tensor, *, settled: Tensor) -> Tensor:
        """p, a scalar in [0, 1]; 1 while nothing is settled.

        Args:
            rate: ε, a scalar.
            settled: whether the student has learned enough to judge by, a boolean scalar.
        """
        left_out = (_MARGIN * rate * (rate / _CLEAN).clamp(max=1)).clamp(max=_MOST)
        return 1 - torch.where(settled, left_out, 0.0)

    @torch.no_grad()
    def measured(self, losses: Tensor) -> Tensor:
        """ℓ of unknown scale, `(B,)`, in units of half its mean in the first batch.

        The curriculum fades out over one unit of loss, which suits cross-entropy.
        """
        first = losses.nanmean().float() / 2
        self.unit = torch.where(self.unit > 0, self.unit, first)
        return losses / torch.where(self.unit > 0, self.unit, 1.0).to(losses.dtype)
