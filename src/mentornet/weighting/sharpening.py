"""Weights that are nearly decisions: is the label likely enough to be right?"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Sharpened"]

_NEARLY = 1e-4  # how far from 0 and 1 a weight is taken to be at least
_LEVELS = 0.5, 0.75  # between which v₀ is kept by a mentor that can tell
_TELLS = 0.3  # r from which on a mentor is taken to tell right labels from wrong ones


class Sharpened(nn.Module):
    """v ← σ((1 − t) z + t s (z − z₀)), z = logit v, z₀ = logit v₀, t from 0 to 1 as training goes.

    At first v is as it was; from the share `decided_by` of training on, where t = 1, it is nearly a
    decision: is the label likelier right than v₀?

    A mentor that has learned from verified samples says how probable it is that a label is right.
    That is not how much of it is best learned: a wrong label of weight 0.2 is learned by heart
    too, only later. Where probabilities are true, the mean weight v̄ (a moving average) is the share
    of right labels, and v > v̄ where the losses speak for the label: in the end such samples are
    taken, v₀ = v̄, and the others left out. Where most labels are wrong that is not enough, a label
    must be more likely right than not, v₀ = ½; and where hardly any is, what is right three times
    in four is worth having, v₀ = ¾. To decide so from the start would leave out much that is right,
    as losses then say little; to wait long lets more be learned by heart.

    But a mentor that cannot tell gives all samples about v̄, and if that is below ½ nothing would be
    left to learn from. How well it tells is the variance of v in a batch as a share of what it
    would be if all were decided, r = var v / (m (1 − m)) with the batch's mean m, again a moving
    average. Below 0.3 the level comes down to v̄ with it: v₀ = v̄ + (½ − v̄) r / 0.3.

    Args:
        sharpness: s > 0.
        decided_by: the share of training by which t = 1, in (0, 1].
        decay: of the moving average.

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
        """Sharpened weights, `(B,)`; a NaN stays one and does not count.

        Args:
            weight: v as the mentor says it, `(B,)`.
            progress: share of training that is over, a scalar.
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
        """v₀."""
        low, high = _LEVELS
        asked = torch.lerp(
            self.mean, self.mean.clamp(min=low), (self.resolution / _TELLS).clamp(max=1)
        )
        return asked.clamp(max=high)
