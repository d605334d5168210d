"""ℓ_pt: the moving average of the p-th percentile of the batch's losses (§3.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError

__all__ = ["PercentileEMA", "check_pace"]


class PercentileEMA(nn.Module):
    """ℓ_pt ← d ℓ_pt + (1 − d) percentile_p(ℓ), starting at the first batch's percentile.

    (The authors' released code starts at 0, which calls every early loss large.)

    Args:
        percentile: p in [0, 1]; the paper's is 0.75.
        decay: d in [0, 1); the paper's is 0.95.

    >>> level = PercentileEMA(percentile=0.5, decay=0.9)
    >>> level.update(torch.tensor([1.0, 2.0, 3.0]))
    tensor(2.)
    >>> level.update(torch.tensor([1.0, 1.0, 1.0]))  # 0.9 · 2 + 0.1 · 1
    tensor(1.9000)
    """

    value: Tensor

    def __init__(self, percentile: float = 0.75, decay: float = 0.95) -> None:
        super().__init__()
        check_pace(percentile, decay)
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
            label: not looked at; see `ClassPercentile`.
            percentile: p for this batch in place of the usual one, a scalar.
        """
        level = _quantile(losses.float(), self.percentile if percentile is None else percentile)
        moved = self.value * self.decay + level * (1 - self.decay)
        moved = torch.where(self.value.isnan(), level, moved)
        self.value = torch.where(level.isnan(), self.value, moved)
        return self.value


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


def check_pace(percentile: float, decay: float) -> None:
    """Raise unless p and d can be what they are."""
    if not 0 <= percentile <= 1:
        hint = f"; did you mean {percentile / 100:g}?" if 1 < percentile <= 100 else ""
        raise MentorNetError(f"percentile must be in [0, 1], got {percentile:g}{hint}")
    if not 0 <= decay < 1:
        raise MentorNetError(f"decay must be in [0, 1), got {decay:g}")
