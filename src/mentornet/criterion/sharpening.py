"""Weights that are nearly decisions: is the label likely enough to be right?"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Sharpened"]

_NEARLY = 1e-4  # how far from 0 and 1 a weight is taken to be at least
_LEVELS = 0.5, 0.75  # between which v̄ is kept


class Sharpened(nn.Module):
    """v ← σ((1 − t) z + t s (z − z̄)), z = logit v, z̄ = logit v̄, t from 0 to 1 as training goes.

    v̄ is the moving average of the weights' mean, but at least ½ and at most ¾. At first v is as it
    was; from the share `decided_by` of training on, where t = 1, it is nearly a decision.

    A mentor that has learned from verified samples says how probable it is that a label is right.
    That is not how much of it is best learned: a wrong label of weight 0.2 is learned by heart
    too, only later. Where probabilities are true, the mean weight is the share of right labels, and
    v > v̄ where the losses speak for the label: in the end such samples are taken, and the others
    left out. Where most labels are wrong that is not enough, a label must be more likely right than
    not; and where hardly any is, what is right three times in four is worth having. To decide so
    from the start would leave out much that is right, as losses then say little; to wait long lets
    more be learned by heart.

    Args:
        sharpness: s > 0.
        decided_by: the share of training by which t = 1, in (0, 1].
        decay: of the moving average.

    >>> weight, end = torch.tensor([0.9, 0.6, 0.5, 0.4, 0.1]), torch.tensor(1.0)
    >>> Sharpened(sharpness=4.0)(weight, end).round(decimals=2)
    tensor([1.0000, 0.8400, 0.5000, 0.1600, 0.0000])
    """

    mean: Tensor

    def __init__(self, sharpness: float, decided_by: float = 1.0, decay: float = 0.95) -> None:
        super().__init__()
        self.sharpness, self.decided_by, self.decay = sharpness, decided_by, decay
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
        level = self.mean.clamp(*_LEVELS).logit(_NEARLY).to(weight.dtype)
        logit = weight.logit(_NEARLY)
        t = (progress / self.decided_by).clamp(max=1).to(weight.dtype)
        return torch.lerp(logit, self.sharpness * (logit - level), t).sigmoid()
