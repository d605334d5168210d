"""Focal loss (Lin et al. 2017; App. E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import check_not_negative
from mentornet.data import Batch
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Outputs, Supervision

__all__ = ["FocalMethod", "focal_loss"]


def focal_loss(logits: Tensor, given_label: Tensor, *, gamma: float = 2.0) -> Tensor:
    """Return ℓ = −(1 − q_y)^γ log q_y, one value per sample; the factor has a gradient too.

    Args:
        logits: the logits, `(B, K)`; q is their softmax.
        given_label: y, `(B,)`.
        gamma: γ ≥ 0; the paper tries 1, 2 and 3.

    >>> focal_loss(torch.zeros(1, 2), torch.tensor([0]), gamma=1.0)  # ½ · log 2
    tensor([0.3466])
    """
    plain = torch.nn.functional.cross_entropy(logits, given_label, reduction="none")
    return (1 - (-plain).exp()).clamp(min=1e-8) ** gamma * plain


class _Focal(Supervision):
    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return focal_loss(outputs.logits, label, gamma=self.gamma)


@dataclass(frozen=True)
class FocalMethod(Method):
    """Focal loss, which gives hard samples more weight; see `focal_loss`.

    Args:
        gamma: γ ≥ 0; the paper tries 1, 2 and 3.
    """

    name: ClassVar[str] = "focal"
    title: ClassVar[str] = "Focal loss"
    summary: ClassVar[str] = "leans on hard samples (Lin et al. 2017)"
    gamma: float = 2.0

    def __post_init__(self) -> None:
        check_not_negative(gamma=self.gamma)

    def start(self, task: Task) -> Supervision:
        return _Focal(self.gamma)
