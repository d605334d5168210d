"""ℓ_pt, the loss level that losses are compared with (§3.1).

In the paper it is a moving average of the p-th percentile of the batch's losses. Two variants make
sure that rare or hard classes are not left out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.weighting.loss_histogram import LossHistogram

__all__ = ["ClassLossLevel", "FairLossLevel", "LossLevel", "check_level", "quantile"]

_FAIR = 0.5  # each class keeps at least this part of the share that all samples keep
_PACE = 0.2  # η, how fast a class's own level follows its losses
_ROWS = 1024  # number of own levels, as K is not known; beyond it, classes share a level
_START = -7.0  # log q before the first batch: nearly all losses are above it
_MEMORY = 0.99  # decay of the counts; it is slow, as a rare class is in few batches


class LossLevel(nn.Module):
    """ℓ_pt ← d ℓ_pt + (1 − d) percentile_p(ℓ), starting at the first batch's percentile.

    (The authors' released code starts at 0, so that every early loss is above the level.)

    Args:
        percentile: p in [0, 1]; the paper's is 0.75.
        decay: d in [0, 1); the paper's is 0.95.

    >>> level = LossLevel(percentile=0.5, decay=0.9)
    >>> level.update(torch.tensor([1.0, 2.0, 3.0]))
    tensor(2.)
    >>> level.update(torch.tensor([1.0, 1.0, 1.0]))  # 0.9 · 2 + 0.1 · 1
    tensor(1.9000)
    """

    value: Tensor

    def __init__(self, percentile: float = 0.75, decay: float = 0.95) -> None:
        super().__init__()
        check_level(percentile, decay)
        self.percentile, self.decay = percentile, decay
        self.register_buffer("value", torch.tensor(torch.nan))  # until the first batch

    @torch.no_grad()
    def update(
        self,
        losses: Tensor,
        label: Tensor | None = None,  # noqa: ARG002
        *,
        percentile: Tensor | None = None,
    ) -> Tensor:
        """Update ℓ_pt by the losses of a batch, and return it, a scalar.

        Args:
            losses: ℓ, `(B,)`; NaN values are ignored.
            label: not used here; see `ClassLossLevel`.
            percentile: p for this batch, a scalar, instead of that of the constructor.
        """
        level = quantile(losses.float(), self.percentile if percentile is None else percentile)
        moved = self.value * self.decay + level * (1 - self.decay)
        moved = torch.where(self.value.isnan(), level, moved)
        self.value = torch.where(level.isnan(), self.value, moved)
        return self.value


class FairLossLevel(LossLevel):
    """ℓ_pt of all samples, but for each class k at least q_k, its own (p/2)-th percentile.

    If the student has not learned a class when the first samples are left out, all losses of that
    class may lie above ℓ_pt, and it would never be learned. So each class keeps at least about half
    the share that all samples keep. If all classes are about equally hard and noisy, q_k < ℓ_pt,
    and this is `LossLevel` bit for bit.

    The losses of a class that is left out rise fast, so q_k follows each of its samples:
    log q_k ← log q_k + η Σ (p/2 − [ℓ < q_k]), which is stationary if a share p/2 lies below q_k.
    If a batch has more than 1/η samples of the class, η is one over their number.

    Args:
        percentile: p in [0, 1].
        decay: d in [0, 1) of the level of all samples.

    >>> level = FairLossLevel(percentile=0.5, decay=0.0)
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
        """Update the levels by losses and given labels, `(B,)`, and return ℓ_pt of each sample."""
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


class ClassLossLevel(nn.Module):
    """The p-th percentile of recent losses, class by class, shrunk to that of all classes.

    With one level for all, a rare or hard class has large losses, so its weights are 0 and it stays
    hard. Here each class has its own level. Its recent losses are counted in bins, and κ samples of
    the losses of all classes are added. The level of a class that was recently seen n times is the
    percentile of the distribution (n · own + κ · all) / (n + κ).

    Args:
        classes: K ≥ 2.
        percentile: p in [0, 1].
        shrinkage: κ ≥ 0, the number of added samples.

    >>> level = ClassLossLevel(2, percentile=0.5, shrinkage=0.0)
    >>> losses = torch.tensor([0.1, 0.1, 3.0, 3.0])
    >>> level.update(losses, torch.tensor([0, 0, 1, 1])).round()
    tensor([0., 0., 3., 3.])
    """

    value: Tensor

    def __init__(self, classes: int, percentile: float = 0.75, shrinkage: float = 20.0) -> None:
        super().__init__()
        if classes < 2:
            raise MentorNetError(f"by_class must be the number of classes, ≥ 2, got {classes}")
        check_level(percentile, _MEMORY)
        if not shrinkage >= 0:
            raise MentorNetError(f"shrinkage must be ≥ 0, got {shrinkage:g}")
        self.classes, self.percentile, self.shrinkage = classes, percentile, shrinkage
        self.recent = LossHistogram(classes, _MEMORY)
        self.register_buffer("value", torch.tensor(torch.nan), persistent=False)

    @torch.no_grad()
    def update(self, losses: Tensor, label: Tensor, *, percentile: Tensor | None = None) -> Tensor:
        """Update the levels by losses and given labels, `(B,)`, and return ℓ_pt of each sample."""
        self.recent.update(losses, label)
        levels = self.levels(percentile)
        self.value = levels.mean()  # for the log
        return levels[label].to(losses.dtype)

    def levels(self, percentile: Tensor | None = None) -> Tensor:
        """Return ℓ_pt of every class, `(K,)`."""
        counts = self.recent.counts
        everything = counts.sum(0)
        shrunk = counts + self.shrinkage * everything / everything.sum().clamp(min=1e-12)
        at = torch.as_tensor(
            self.percentile if percentile is None else percentile,
            dtype=counts.dtype, device=counts.device,
        )  # fmt: skip
        return _histogram_quantile(shrunk, self.recent.edges, at)


def quantile(values: Tensor, at: float | Tensor) -> Tensor:
    """Return the quantile of the values that are not NaN, interpolated; NaN if there are none.

    (`torch.nanquantile` cannot be compiled for a share that is a tensor.)
    """
    ordered = values.sort().values  # NaN comes last
    last = (~values.isnan()).sum() - 1
    place = (last * at).clamp(min=0)
    below = place.long()
    pair = ordered[torch.stack([below, torch.minimum(below + 1, last.clamp(min=0))])]
    return torch.lerp(pair[0], pair[1], (place - below).to(values.dtype))


def _histogram_quantile(counts: Tensor, edges: Tensor, at: Tensor) -> Tensor:
    """Return the loss below which a share `at` of each row lies, interpolated within bins."""
    below = counts.cumsum(1)
    target = at * below[:, -1:]
    bin_ = torch.searchsorted(below, target).clamp(max=counts.shape[1] - 1)
    inside = counts.gather(1, bin_)
    share = (target - (below.gather(1, bin_) - inside)) / inside.clamp(min=1e-12)
    ends = torch.cat([edges[:1] * 0, edges, edges[-1:] * 2])
    low, high = ends[bin_[:, 0]], ends[bin_[:, 0] + 1]
    return low + share[:, 0].clamp(0, 1) * (high - low)


def check_level(percentile: float, decay: float) -> None:
    """Raise if the percentile or the decay is outside [0, 1]."""
    if not 0 <= percentile <= 1:
        hint = f"; did you mean {percentile / 100:g}?" if 1 < percentile <= 100 else ""
        raise MentorNetError(f"percentile must be in [0, 1], got {percentile:g}{hint}")
    if not 0 <= decay < 1:
        raise MentorNetError(f"decay must be in [0, 1), got {decay:g}")
