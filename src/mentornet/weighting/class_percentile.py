"""ℓ_pt for every class, so that rare and hard classes are not starved."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.weighting.loss_histogram import LossHistogram
from mentornet.weighting.percentile import check_pace

__all__ = ["ClassPercentile"]

_MEMORY = 0.99  # decay of the counts: a rare class is in few of the batches


class ClassPercentile(nn.Module):
    """The p-th percentile of recent losses, class by class, shrunk to that of all classes.

    Under one percentile for all, a class that is rare or hard has large losses and so no weight,
    and stays hard. Here each class is compared with itself. Its recent losses are counted in
    bins, and κ samples of the losses of all classes are added to them: a class that was seen n
    times of late has the percentile of (n · its own + κ · that of all) / (n + κ).

    Args:
        classes: K.
        percentile: p in [0, 1].
        shrinkage: κ ≥ 0, samples.

    >>> level = ClassPercentile(2, percentile=0.5, shrinkage=0.0)
    >>> losses = torch.tensor([0.1, 0.1, 3.0, 3.0])
    >>> level.update(losses, torch.tensor([0, 0, 1, 1])).round()
    tensor([0., 0., 3., 3.])
    """

    value: Tensor

    def __init__(self, classes: int, percentile: float = 0.75, shrinkage: float = 20.0) -> None:
        super().__init__()
        if classes < 2:
            raise MentorNetError(f"by_class must be the number of classes, ≥ 2, got {classes}")
        check_pace(percentile, _MEMORY)
        if not shrinkage >= 0:
            raise MentorNetError(f"shrinkage must be ≥ 0, got {shrinkage:g}")
        self.classes, self.percentile, self.shrinkage = classes, percentile, shrinkage
        self.recent = LossHistogram(classes, _MEMORY)
        self.register_buffer("value", torch.tensor(torch.nan), persistent=False)

    @torch.no_grad()
    def update(self, losses: Tensor, label: Tensor, *, percentile: Tensor | None = None) -> Tensor:
        """Take in losses and given labels, `(B,)` each, and return ℓ_pt of each, `(B,)`."""
        self.recent.update(losses, label)
        levels = self.levels(percentile)
        self.value = levels.mean()  # for the log
        return levels[label].to(losses.dtype)

    def levels(self, percentile: Tensor | None = None) -> Tensor:
        """ℓ_pt of every class, `(K,)`."""
        counts = self.recent.counts
        everything = counts.sum(0)
        shrunk = counts + self.shrinkage * everything / everything.sum().clamp(min=1e-12)
        at = torch.as_tensor(
            self.percentile if percentile is None else percentile,
            dtype=counts.dtype, device=counts.device,
        )  # fmt: skip
        return _quantile(shrunk, self.recent.edges, at)


def _quantile(counts: Tensor, edges: Tensor, at: Tensor) -> Tensor:
    """The loss below which a share `at` of each row lies, straight lines within the bins."""
    below = counts.cumsum(1)
    wanted = at * below[:, -1:]
    bin_ = torch.searchsorted(below, wanted).clamp(max=counts.shape[1] - 1)
    inside = counts.gather(1, bin_)
    share = (wanted - (below.gather(1, bin_) - inside)) / inside.clamp(min=1e-12)
    ends = torch.cat([edges[:1] * 0, edges, edges[-1:] * 2])
    low, high = ends[bin_[:, 0]], ends[bin_[:, 0] + 1]
    return low + share[:, 0].clamp(0, 1) * (high - low)
