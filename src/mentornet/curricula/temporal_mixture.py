"""Temporal mixture: first the easy samples, then the hard ones (App. D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import Curriculum, check_not_negative
from mentornet.curricula.hard_negative_mining import HardNegativeMining
from mentornet.curricula.self_paced import SelfPaced
from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures

__all__ = ["TemporalMixture"]


@dataclass(frozen=True)
class TemporalMixture(Curriculum):
    """v* is self-paced until `switch` percent of training, and hard negative mining after that.

    Args:
        switch: the progress in percent at which hard negative mining begins; the paper's is 50.
        lambda1: λ ≥ 0 of both.
        relative: whether λ is added to the loss level ℓ_pt.

    >>> loss, progress = torch.tensor([0.5, 0.5, 3.0]), torch.tensor([0, 99, 99])
    >>> TemporalMixture()(MentorFeatures.from_loss(loss, loss_level=1.0, progress=progress))
    tensor([1., 0., 1.])
    """

    name: ClassVar[str] = "temporal-mixture"
    switch: int = PERCENT // 2
    lambda1: float = 0.0
    relative: bool = True

    def __post_init__(self) -> None:
        check_not_negative(lambda1=self.lambda1)
        if not 0 <= self.switch <= PERCENT:
            raise MentorNetError(f"switch must be in 0–{PERCENT} percent, got {self.switch}")

    def weight(self, features: MentorFeatures) -> Tensor:
        return self._choose(self._early.weight(features), self._late.weight(features), features)

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        early, late = self._early.implied_loss(features), self._late.implied_loss(features)
        return self._choose(early, late, features)

    @property
    def _early(self) -> SelfPaced:
        return SelfPaced(self.lambda1, self.relative)

    @property
    def _late(self) -> HardNegativeMining:
        return HardNegativeMining(self.lambda1, self.relative)

    def _choose(self, early: Tensor, late: Tensor, features: MentorFeatures) -> Tensor:
        return torch.where(features.progress < self.switch, early, late)
