"""ℓ_pt, the loss level that losses are compared with (§3.1).

The paper's is a moving average of the p-th percentile of the batch's losses. Two variants see to it
that rare or hard classes are not starved.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.weighting.loss_histogram import LossHistogram

__all__ = ["ClassLossLevel", "FairLossLevel", "LossLevel", "check_level"]

_FAIR = 0.5  # of the share that is kept of all samples is kept of each class, at least
_PACE = 0.2  # η, by which a class's own level follows its losses
_ROWS = 1024  # classes told apart, as nobody says how many there are; more share a place
_START = -7.0  # log q before anything was seen: a level that nothing is below
_MEMORY = 0.99  # decay of the counts: a rare class is in few of the batches


class LossLevel(nn.Module):
    """ℓ_pt ← d ℓ_pt + (1 − d) percentile_p(ℓ), starting at the first batch's percentile.

    (The authors' released code starts at 0, which calls every early loss large.)

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
        """Take in the losses of a batch, `(B,)`, and return ℓ_pt, a scalar.

        Args:
            losses: ℓ; those that are NaN do not count.
            label: not looked at; see `ClassLossLevel`.
            percentile: p for this batch in place of the usual one, a scalar.
        """
        level = _quantile(losses.float(), self.percentile if percentile is None else percentile)
        moved = self.value * self.decay + level * (1 - self.decay)
        moved = torch.where(self.value.isnan(), level, moved)
        self.value = torch.where(level.isnan(), self.value, moved)
        return self.value


class FairLossLevel(LossLevel):
    """ℓ_pt of all samples, but for each class k at least q_k, its own (p/2)-th percentile.

    A class that the student has not learned when the first samples are left out may lie beyond
    ℓ_pt as a whole; it would then never be learned. So of each class at least about half the
    share is kept that is kept of all. Where classes are about as hard and their labels about as
    wrong as each other's, q_k < ℓ_pt, and this is `LossLevel` bit for bit.

    A starved class's losses rise fast, so q_k follows the samples of the class one by one:
    log q_k ← log q_k + η Σ (p/2 − [ℓ < q_k]), which stands still where a share p/2 is below q_k.
    With more than 1/η of them in a batch, η is one over their number.

    Args:
        percentile: p in [0, 1].
        decay: d of the level of all.

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


class ClassLossLevel(nn.Module):
    """The p-th percentile of recent losses, class by class, shrunk to that of all classes.

    Under one percentile for all, a class that is rare or hard has large losses and so no weight,
    and stays hard. Here each class is compared with itself. Its recent losses are counted in
    bins, and κ samples of the losses of all classes are added to them: a class that was seen n
    times of late has the percentile of (n · its own + κ · that of all) / (n + κ).

    Args:
        classes: K.
        percentile: p in [0, 1].
        shrinkage: κ ≥ 0, samples.

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
        return _histogram_quantile(shrunk, self.recent.edges, at)


def _quantile(values: Tensor, at: float | Tensor) -> Tensor:
    """The quantile of those that are not NaN, straight lines in between; NaN if there are none.

    (`torch.nanquantile`, for a share that is a tensor; that one cannot be compiled with it.)
    """
    ordered = values.sort().values  # NaN comes last
    last = (~values.isnan()).sum() - 1
    place = (last * at).clamp(min=0)
    below = place.long()
    pair = ordered[torch.stack([below, torch.minimum(below + 1, last.clamp(min=0))])]
    return torch.lerp(pair[0], pair[1], (place - below).to(values.dtype))


def _histogram_quantile(counts: Tensor, edges: Tensor, at: Tensor) -> Tensor:
    """The loss below which a share `at` of each row lies, straight lines within the bins."""
    below = counts.cumsum(1)
    wanted = at * below[:, -1:]
    bin_ = torch.searchsorted(below, wanted).clamp(max=counts.shape[1] - 1)
    inside = counts.gather(1, bin_)
    share = (wanted - (below.gather(1, bin_) - inside)) / inside.clamp(min=1e-12)
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
