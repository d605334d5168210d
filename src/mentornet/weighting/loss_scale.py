"""A common scale for losses of any kind, such as those of regression or of preferences."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mentornet.records import MAX_MARGIN
from mentornet.weighting.levels import quantile

__all__ = ["LossScale"]

_DECAY = 0.95  # of the moving averages
_SHARES = 0.1, 0.3  # of losses that lie below the two that set the scale
_NORMAL = 1.12  # log of the ratio of these two quantiles of |r|, if r is normal
_BEYOND = 0.56  # log of the ratio of the median of |r| and the upper one
_POWERS = 0.5, 4.0  # the range of a
_MOST = 1e6  # the largest x
_LEAST = 1e-30
_DOUBTED = 4.0  # the x that is as likely wrong as correct
_STEEP = 2.0  # how fast the margin falls with log x


class LossScale(nn.Module):
    """x = 0.57 (ℓ / ℓ₃₀)^(1/a), with a = log(ℓ₃₀ / ℓ₁₀) / 1.12 from two quantiles of the losses.

    A loss of regression is mostly a power of the residual, ℓ ∝ |r|^a, and most residuals are about
    normal. Then a is that power (2 for squared errors), and x = |r| / MAD, where MAD is the median
    absolute deviation of the residuals that are no outliers. So x neither depends on the unit of
    the target nor on whether errors are squared. It hardly depends on outliers either, however
    large, as the quantiles are low. Their logarithms are moving averages, as losses fall during
    training. If there are losses below 0, the smallest so far is subtracted from all.

    `forward` returns log(1 + x): a typical loss has 0.7, and x = 10 has 2.4.

    >>> residuals = torch.tensor([0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 60.0])
    >>> LossScale()(residuals.abs()).round(decimals=1)
    tensor([ 0.1000,  0.3000,  0.5000,  0.8000,  1.0000,  1.3000, 10.2000])
    """

    quantiles: Tensor
    least: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("quantiles", torch.full((2,), torch.inf))  # log ℓ₁₀ and log ℓ₃₀
        self.register_buffer("least", torch.zeros(()))

    @torch.no_grad()
    def forward(self, losses: Tensor) -> Tensor:
        """Update the scale by the losses of a batch, and return log(1 + x), `(B,)`; NaN stays."""
        exact = losses.to(self.least.dtype)
        self.least = torch.minimum(self.least, exact.nan_to_num(torch.inf).amin())
        shifted = exact - self.least
        now = torch.stack([quantile(shifted, share) for share in _SHARES])
        now = now.clamp(min=_LEAST).log()
        moved = torch.lerp(now, self.quantiles, _DECAY)
        moved = torch.where(self.quantiles.isinf(), now, moved)
        self.quantiles = torch.where(now.isnan(), self.quantiles, moved)
        return self._log_x(shifted).exp().log1p().to(losses.dtype)

    def margins(self, losses: Tensor) -> Tensor:
        """Return 2 log(4 / x), at most `MAX_MARGIN`: the margin if nothing but ℓ is known.

        It is 0 where the residual is four times the usual one.
        """
        log_x = self._log_x(losses.to(self.least.dtype) - self.least)
        margin = _STEEP * (math.log(_DOUBTED) - log_x)
        return margin.clamp(max=MAX_MARGIN)

    def _log_x(self, shifted: Tensor) -> Tensor:
        lower, upper = self.quantiles
        power = ((upper - lower) / _NORMAL).clamp(*_POWERS)
        log_x = (shifted.clamp(min=_LEAST).log() - upper) / power - _BEYOND
        return log_x.clamp(max=math.log(_MOST))
