"""Losses that wrong labels can pull on less: generalised and symmetric cross-entropy."""

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
    """ℓ = (1 − p_y^q) / q, one value a sample (Zhang and Sabuncu 2018).

    Cross-entropy for q → 0, the mean absolute error for q = 1.

    Args:
        logits: `(B, K)`.
        given_label: y, `(B,)`.
        q: in (0, 1].

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
    """ℓ = −α log p_y − β A (1 − p_y), one value a sample (Wang et al. 2019).

    The second part is the cross-entropy with label and prediction changed about, −Σ p log y,
    where log 0 is set to A.

    Args:
        logits: `(B, K)`.
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

    def losses(self, said: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return generalised_cross_entropy(said.logits, label, q=self.q)


class _Symmetric(Supervision):
    def __init__(self, alpha: float, beta: float, log_zero: float) -> None:
        self.alpha, self.beta, self.log_zero = alpha, beta, log_zero

    def losses(self, said: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return symmetric_cross_entropy(
            said.logits, label, alpha=self.alpha, beta=self.beta, log_zero=self.log_zero
        )


@dataclass(frozen=True)
class GeneralisedCrossEntropy(Method):
    """Between cross-entropy and the mean absolute error; see `generalised_cross_entropy`.

    Args:
        q: in (0, 1]; its paper takes 0.7.
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
    """Cross-entropy both ways; see `symmetric_cross_entropy`.

    Args:
        alpha: α of the usual part; its paper takes 0.1 on CIFAR-10 and 6 on CIFAR-100.
        beta: β of the reverse part; its paper takes 1 and 0.1.
        log_zero: A, which stands for log 0; in its authors' code log 0.0001.
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
