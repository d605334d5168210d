"""Sharpening: push weights that are probabilities towards 0 or 1."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Sharpened"]

_NEARLY = 1e-4  # weights are clipped to this distance from 0 and 1
_LEVELS = 0.5, 0.75  # the range of v₀ for a mentor that separates correct from wrong labels
_TELLS = 0.3  # the value of r from which on a mentor does so


class Sharpened(nn.Module):
    """v ← σ((1 − t) z + t s (z − z₀)), z = logit v, z₀ = logit v₀; t rises from 0 to 1 in training.

    At t = 0 the weight is unchanged. At t = 1 it is close to 1 if v > v₀ and close to 0 if v < v₀.

    A mentor that has learned from verified samples gives the probability that a label is correct.
    As a weight it is too soft: a wrong label of weight 0.2 is memorised too, only later. If the
    probabilities are calibrated, the moving average v̄ of all weights is the share of correct
    labels, and v > v̄ means that the loss speaks for the label. So v₀ = v̄, within two limits. If
    most labels are wrong, a label must still be more likely correct than not: v₀ ≥ ½. If hardly any
    is wrong, a probability of ¾ is enough: v₀ ≤ ¾. Early losses say little, so sharpening from the
    start would leave out many correct labels; sharpening late would let more wrong ones be
    memorised.

    A mentor that cannot tell labels apart gives all samples about v̄; if that is below ½, no sample
    would be left. How well it tells them apart is the variance of v in a batch, divided by what it
    would be for weights of 0 and 1: r = var v / (m (1 − m)) with the batch's mean m, again as a
    moving average. Below r = 0.3 the lower limit is relaxed: v₀ = v̄ + (½ − v̄) r / 0.3.

    Args:
        sharpness: s > 0.
        decided_by: the share of training after which t = 1, in (0, 1].
        decay: decay of the moving averages, in [0, 1).

    >>> weight, end = torch.tensor([0.9, 0.6, 0.5, 0.4, 0.1]), torch.tensor(1.0)
    >>> Sharpened(sharpness=4.0)(weight, end).round(decimals=2)
    tensor([1.0000, 0.8400, 0.5000, 0.1600, 0.0000])
    >>> Sharpened(sharpness=4.0)(torch.tensor([0.22, 0.21, 0.2, 0.19]), end).round(decimals=2)
    tensor([0.5800, 0.5300, 0.4600, 0.4000])
    """

    mean: Tensor
    resolution: Tensor

    def __init__(self, sharpness: float, decided_by: float = 1.0, decay: float = 0.95) -> None:
        super().__init__()
        self.sharpness, self.decided_by, self.decay = sharpness, decided_by, decay
        for name in ("mean", "resolution"):  # v̄ and r, until the first batch
            self.register_buffer(name, torch.tensor(torch.nan))

    @torch.no_grad()
    def forward(self, weight: Tensor, progress: Tensor) -> Tensor:
        """Return the sharpened weights, `(B,)`; NaN values stay NaN and are ignored.

        Args:
            weight: v of the mentor, `(B,)`.
            progress: the share of training that is over, a scalar.
        """
        now = weight.nanmean().float()
        variance = (weight.float() - now).square().nanmean()
        self.mean = self._averaged(self.mean, now)
        self.resolution = self._averaged(
            self.resolution, variance / (now * (1 - now)).clamp(min=_NEARLY)
        )
        level = self._level().logit(_NEARLY).to(weight.dtype)
        logit = weight.logit(_NEARLY)
        t = (progress / self.decided_by).clamp(max=1).to(weight.dtype)
        return torch.lerp(logit, self.sharpness * (logit - level), t).sigmoid()

    def _averaged(self, before: Tensor, now: Tensor) -> Tensor:
        after = torch.where(before.isnan(), now, torch.lerp(now, before, self.decay))
        return torch.where(now.isnan(), before, after)

    def _level(self) -> Tensor:
        """Return v₀."""
        low, high = _LEVELS
        asked = torch.lerp(
            self.mean, self.mean.clamp(min=low), (self.resolution / _TELLS).clamp(max=1)
        )
        return asked.clamp(max=high)
