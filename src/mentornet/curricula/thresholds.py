"""The loss a threshold λ is held against: as it is, or counted from ℓ_pt."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.features import MentorFeatures

__all__ = ["excess", "threshold"]


def threshold(features: MentorFeatures, lambda1: float, *, relative: bool) -> Tensor:
    """λ of every sample, `(B,)`: `lambda1`, plus ℓ_pt if `relative`.

    A relative λ follows the student: as its losses fall, so does the bar. That is
    the paper's reading of λ in its Fig. 4, and the "age" of self-paced learning.
    """
    loss = features.current_loss
    return features.loss_level + lambda1 if relative else torch.full_like(loss, lambda1)


def excess(features: MentorFeatures, lambda1: float, *, relative: bool) -> Tensor:
    """ℓ − λ of every sample, `(B,)`, with no rounding of ℓ_pt in between."""
    measured = features.current_difference if relative else features.current_loss
    return measured - lambda1
