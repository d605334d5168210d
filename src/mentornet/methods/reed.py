"""Bootstrapping: the target is in part the label, in part the prediction (Reed et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Outputs, Supervision

__all__ = ["ReedHard", "ReedSoft", "reed_hard", "reed_soft"]


def reed_soft(logits: Tensor, given_label: Tensor, *, beta: float = 0.95) -> Tensor:
    """Return ℓ = −(β log q_y + (1 − β) Σⱼ qⱼ log qⱼ), one value per sample (App. E).

    The second part is the entropy of the prediction q.

    Args:
        logits: the logits, `(B, K)`; q is their softmax.
        given_label: y, `(B,)`.
        beta: β in [0, 1], how far the label is trusted; the paper tries 0.7 to 0.95.

    >>> reed_soft(torch.zeros(1, 2), torch.tensor([0]), beta=0.5)  # both terms are log 2
    tensor([0.6931])
    """
    _check(beta)
    log_q = logits.log_softmax(1)
    entropy = -(log_q.exp() * log_q).sum(1)
    return beta * _cross_entropy(log_q, given_label) + (1 - beta) * entropy


def reed_hard(logits: Tensor, given_label: Tensor, *, beta: float = 0.8) -> Tensor:
    """Return ℓ = −(β log q_y + (1 − β) maxⱼ log qⱼ), one value per sample (App. E).

    Args:
        logits: the logits, `(B, K)`; q is their softmax.
        given_label: y, `(B,)`.
        beta: β in [0, 1], how far the label is trusted; the paper tries 0.7 to 0.95.

    >>> reed_hard(torch.tensor([[0.0, 50.0]]), torch.tensor([0]), beta=0.9)  # 0.9 · 50 + 0.1 · 0
    tensor([45.])
    """
    _check(beta)
    log_q = logits.log_softmax(1)
    return beta * _cross_entropy(log_q, given_label) - (1 - beta) * log_q.amax(1)


def _cross_entropy(log_q: Tensor, given_label: Tensor) -> Tensor:
    return torch.nn.functional.nll_loss(log_q, given_label, reduction="none")


def _check(beta: float) -> None:
    if not 0 <= beta <= 1:
        raise MentorNetError(f"beta must be in [0, 1], got {beta:g}")


class _Reed(Supervision):
    def __init__(self, loss: Callable[..., Tensor], beta: float) -> None:
        self.loss, self.beta = loss, beta

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        return self.loss(outputs.logits, label, beta=self.beta)


@dataclass(frozen=True)
class ReedSoft(Method):
    """Bootstrapping with the soft prediction; see `reed_soft`.

    Args:
        beta: β in [0, 1]; the paper tries 0.7, 0.8, 0.9 and 0.95.
    """

    name: ClassVar[str] = "reed-soft"
    title: ClassVar[str] = "Reed soft"
    summary: ClassVar[str] = "trusts the label in part, and in part the soft prediction"
    loss: ClassVar[Callable[..., Tensor]] = staticmethod(reed_soft)
    beta: float = 0.95

    def __post_init__(self) -> None:
        _check(self.beta)

    def start(self, task: Task) -> Supervision:
        return _Reed(self.loss, self.beta)


@dataclass(frozen=True)
class ReedHard(ReedSoft):
    """Bootstrapping with the hard prediction; see `reed_hard`."""

    name: ClassVar[str] = "reed-hard"
    title: ClassVar[str] = "Reed hard"
    summary: ClassVar[str] = "trusts the label in part, and in part the predicted class"
    loss: ClassVar[Callable[..., Tensor]] = staticmethod(reed_hard)
    beta: float = 0.8
