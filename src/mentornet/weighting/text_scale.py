"""A common scale for the losses of texts."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.records import MAX_MARGIN

__all__ = ["TextScale"]

_DECAY = 0.98  # as of the histogram of losses
_STEEP = 2.0  # how fast the margin falls with log ℓ


class TextScale(nn.Module):
    """x = 2 ℓ / m, with a moving average m of the losses.

    The mean loss of a text depends on how many of its tokens are hard, and falls to a part of what
    it was. If half of the texts are wrong, they and the others have an x of about 4 and 0, however
    small the losses are. (`LossScale` would not do: it takes wrong labels for rare outliers.)

    >>> scale = TextScale()
    >>> scale(torch.tensor([0.0, 0.2, 0.1])).round(decimals=1)
    tensor([0., 4., 2.])
    """

    mean: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))

    @torch.no_grad()
    def forward(self, losses: Tensor) -> Tensor:
        """Update the mean by the losses of a batch, and return x, `(B,)`; NaN stays NaN."""
        now = losses.nanmean().to(self.mean.dtype)
        moved = torch.where(self.mean > 0, torch.lerp(now, self.mean, _DECAY), now)
        self.mean = torch.where(now.isnan(), self.mean, moved)
        return 2 * losses / torch.where(self.mean > 0, self.mean, 1.0).to(losses.dtype)

    def margins(self, losses: Tensor) -> Tensor:
        """Return 2 log(m / ℓ), at most `MAX_MARGIN`: 0 for a text with the mean loss."""
        return (_STEEP * (self.mean / losses).log()).clamp(max=MAX_MARGIN)
