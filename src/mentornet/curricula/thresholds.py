"""The threshold λ of a curriculum: a fixed loss, or a distance from the loss level ℓ_pt."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.features import MentorFeatures

__all__ = ["excess", "threshold"]


def threshold(features: MentorFeatures, lambda1: float, *, relative: bool) -> Tensor:
    """Return the threshold λ of every sample, `(B,)`: `lambda1`, plus ℓ_pt if `relative`.

    A relative threshold falls as the student's losses fall. That is how the paper reads λ in its
    Fig. 4, and what self-paced learning calls "age".
    """
    loss = features.current_loss
    return features.loss_level + lambda1 if relative else torch.full_like(loss, lambda1)


def excess(features: MentorFeatures, lambda1: float, *, relative: bool) -> Tensor:
    """Return ℓ − λ of every sample, `(B,)`, without rounding ℓ_pt in between."""
    measured = features.current_difference if relative else features.current_loss
    return measured - lambda1
