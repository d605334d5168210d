"""Weights that are nearly decisions: is the label likely enough to be right?"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mentornet.criterion.percentile import quantile

__all__ = ["Sharpened"]

_NEARLY = 1e-4  # how far from 0 and 1 a weight is taken to be at least
_LEVELS = 0.5, 0.75  # between which v̄ is kept
_KEPT = 0.1  # of what is thought right, at least, where certainty is asked for


class Sharpened(nn.Module):
    """v ← σ((1 − t) z + t s (z − z₀)), z = logit v, t from 0 to 1 as training goes.

    At first v is as it was; from the share `decided_by` of training on, where t = 1, it is nearly a
    decision: is the label likelier right than v₀, with z₀ = logit v₀?

    A mentor that has learned from verified samples says how probable it is that a label is right.
    That is not how much of it is best learned: a wrong label of weight 0.2 is learned by heart
    too, only later. Where probabilities are true, the mean weight v̄ is the share of right labels,
    and v > v̄ where the losses speak for the label: v₀ = v̄, as a moving average, but at least ½ and
    at most ¾. To decide so from the start would leave out much that is right, as losses then say
    little; to wait long lets more be learned by heart.

    Where most labels are wrong, more likely right than not is too little: of what is then taken a
    quarter may be wrong, and a wrong label that is learned costs several times what a right one is
    worth. With `certainty` it is v₀ = c; but never so high that less is kept of a batch than a
    tenth of what the mentor thinks right, Σv: it may be sure of nothing yet, and somebody who is
    taught nothing learns nothing.

    Args:
        sharpness: s > 0.
        decided_by: the share of training by which t = 1, in (0, 1].
        decay: of the moving average.
        certainty: c in (0, 1), or None.

    >>> weight, end = torch.tensor([0.9, 0.6, 0.5, 0.4, 0.1]), torch.tensor(1.0)
    >>> Sharpened(sharpness=4.0)(weight, end).round(decimals=2)
    tensor([1.0000, 0.8400, 0.5000, 0.1600, 0.0000])
    >>> weight = torch.tensor([0.95, 0.9, 0.85, 0.7, 0.5])
    >>> Sharpened(sharpness=4.0, certainty=0.8)(weight, end).round(decimals=2)
    tensor([1.0000, 0.9600, 0.8000, 0.1000, 0.0000])
    """

    mean: Tensor

    def __init__(
        self,
        sharpness: float,
        decided_by: float = 1.0,
        decay: float = 0.95,
        certainty: float | None = None,
    ) -> None:
        super().__init__()
        self.sharpness, self.decided_by, self.decay = sharpness, decided_by, decay
        self.certainty = certainty
        self.register_buffer("mean", torch.tensor(torch.nan))  # until the first batch

    @torch.no_grad()
    def forward(self, weight: Tensor, progress: Tensor) -> Tensor:
        """Sharpened weights, `(B,)`; a NaN stays one and does not count.

        Args:
            weight: v as the mentor says it, `(B,)`.
            progress: share of training that is over, a scalar.
        """
        now = weight.nanmean().float()
        mean = torch.where(self.mean.isnan(), now, torch.lerp(now, self.mean, self.decay))
        self.mean = torch.where(now.isnan(), self.mean, mean)
        logit = weight.logit(_NEARLY)
        if self.certainty is None:
            level = self.mean.clamp(*_LEVELS).logit(_NEARLY).to(weight.dtype)
        else:
            surely = math.log(self.certainty / (1 - self.certainty))
            level = quantile(logit, 1 - _KEPT * weight.nanmean()).clamp(max=surely)
        t = (progress / self.decided_by).clamp(max=1).to(weight.dtype)
        return torch.lerp(logit, self.sharpness * (logit - level), t).sigmoid()
