"""MentorNet PD: the predefined curriculum of the paper's experiments (§5.1, App. E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mentornet.curricula.linear import Linear

__all__ = ["MentorNetPD"]


@dataclass(frozen=True)
class MentorNetPD(Linear):
    """v* = clip(1 − (ℓ − ℓ_pt − λ₁)/λ₂, 0, 1): Eq. 5–7 around the loss level ℓ_pt.

    Samples with a loss of at most ℓ_pt + λ₁ have weight 1. Beyond that, the weight falls to 0
    over a range of λ₂. The paper tunes λ₁ and λ₂ and does not print them.

    Args:
        lambda1: λ₁ ≥ 0, how far above ℓ_pt a loss may be for a weight of 1.
        lambda2: λ₂ ≥ 0, the range of losses over which the weight falls from 1 to 0.
        relative: whether λ₁ is added to ℓ_pt; if False, this is `Linear`.

    >>> import torch
    >>> from mentornet import MentorFeatures
    >>> z = MentorFeatures.from_loss(torch.tensor([0.5, 1.5, 3.0]), loss_level=1.0)
    >>> MentorNetPD()(z)
    tensor([1.0000, 0.5000, 0.0000])
    """

    name: ClassVar[str] = "pd"
    lambda1: float = 0.0
    relative: bool = True
