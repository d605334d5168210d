"""Losses that are robust to wrong labels: generalised and symmetric cross-entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import check_not_negative
from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Outputs, Supervision

__all__ = [
    "GeneralisedCrossEntropy",
    "SymmetricCrossEntropy",
    "generalised_cross_entropy",
    "symmetric_cross_entropy",
]


def generalised_cross_entropy(logits: Tensor, given_label: Tensor, *, q: float = 0.7) -> Tensor:
    """Return ℓ = (1 − p_y^q) / q, one value per sample (Zhang and Sabuncu 2018).

    For q → 0 it is the cross-entropy; for q = 1 it is 1 − p_y, half the absolute error Σ|y − p|.

    Args:
        logits: the logits, `(B, K)`; p is their softmax.
        given_label: y, `(B,)`.
        q: q in (0, 1].

    >>> generalised_cross_entropy(torch.zeros(1, 4), torch.tensor([0]), q=0.5)  # (1 − ½) / ½
    tensor([1.])
    """
    log_p = torch.nn.functional.cross_entropy(logits, given_label, reduction="none").neg()
    return (1 - (q * log_p).exp()) / q


def symmetric_cross_entropy(
    logits: Tensor,
    given_label: Tensor,
    *,
    alpha: float = 0.1,
    beta: float = 1.0,
    log_zero: float = -9.21,
) -> Tensor:
    """Return ℓ = −α log p_y − β A (1 − p_y), one value per sample (Wang et al. 2019).

    The second part is the cross-entropy with label and prediction swapped, −Σ p log y, where
    log 0 is set to A.

    Args:
        logits: the logits, `(B, K)`; p is their softmax.
        given_label: y, `(B,)`.
        alpha: α ≥ 0.
        beta: β ≥ 0.
        log_zero: A < 0; log 0.0001 in its authors' code.

    >>> symmetric_cross_entropy(  # 4 · ½
    ...     torch.zeros(1, 2), torch.tensor([0]), alpha=0.0, log_zero=-4.0
    ... )
    tensor([2.])
    """
    plain = torch.nn.functional.cross_entropy(logits, given_label, reduction="none")
    return alpha * plain - beta * log_zero * (1 - (-plain).exp())


class _Generalised(Supervision):
    def __init__(self, q: float) -> None:
        self.q = q

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return generalised_cross_entropy(outputs.logits, label, q=self.q)


class _Symmetric(Supervision):
    def __init__(self, alpha: float, beta: float, log_zero: float) -> None:
        self.alpha, self.beta, self.log_zero = alpha, beta, log_zero

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return symmetric_cross_entropy(
            outputs.logits, label, alpha=self.alpha, beta=self.beta, log_zero=self.log_zero
        )


@dataclass(frozen=True)
class GeneralisedCrossEntropy(Method):
    """Between cross-entropy and the mean absolute error; see `generalised_cross_entropy`.

    Args:
        q: q in (0, 1]; its paper uses 0.7.
    """

    name: ClassVar[str] = "gce"
    title: ClassVar[str] = "Generalised CE"
    summary: ClassVar[str] = (
        "between cross-entropy and mean absolute error (Zhang and Sabuncu 2018)"
    )
    q: float = 0.7

    def __post_init__(self) -> None:
        if not 0 < self.q <= 1:
            raise MentorNetError(f"q must be in (0, 1], got {self.q:g}")

    def start(self, task: Task) -> Supervision:
        return _Generalised(self.q)


@dataclass(frozen=True)
class SymmetricCrossEntropy(Method):
    """Cross-entropy in both directions; see `symmetric_cross_entropy`.

    Args:
        alpha: α ≥ 0 of the usual part; its paper uses 0.1 on CIFAR-10 and 6 on CIFAR-100.
        beta: β ≥ 0 of the reverse part; its paper uses 1 and 0.1.
        log_zero: A < 0, the value of log 0; log 0.0001 in its authors' code.
    """

    name: ClassVar[str] = "sce"
    title: ClassVar[str] = "Symmetric CE"
    summary: ClassVar[str] = "cross-entropy in both directions (Wang et al. 2019)"
    alpha: float = 0.1
    beta: float = 1.0
    log_zero: float = -9.21

    def __post_init__(self) -> None:
        check_not_negative(alpha=self.alpha, beta=self.beta)
        if not self.log_zero < 0:
            raise MentorNetError(f"log_zero must be < 0, got {self.log_zero:g}")

    def start(self, task: Task) -> Supervision:
        return _Symmetric(self.alpha, self.beta, self.log_zero)
