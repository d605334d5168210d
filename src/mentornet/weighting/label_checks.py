"""Checks that logits and labels fit together.

Values are checked only where that costs nothing: on the CPU, and not while a graph is compiled.
Shapes: B samples, T tokens, K classes; images of labels are `(B, …)` with logits `(B, K, …)`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.weighting.evidence import IGNORE

__all__ = [
    "can_look",
    "check_labels",
    "check_pairs",
    "check_pixels",
    "check_tokens",
    "check_zeros_and_ones",
]


def can_look(values: Tensor) -> bool:
    """Return whether reading values neither synchronises with a device nor breaks a graph."""
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def check_labels(logits: Tensor, labels: Tensor, *, images: bool = False) -> None:
    """Raise if labels and logits do not fit together, in type, shape or range.

    Args:
        logits: the logits, `(B, K)` or `(B, K, …)`.
        labels: the given labels, `(B,)` or `(B, …)`; −100 for no label.
        images: whether labels are known to be images, so that dimension 1 of the logits has the
            classes. If not, logits `(B, K, L)` with L = K are refused: they may be of tokens.
    """
    _check_kinds(logits, labels)
    expected = (logits.shape[0], *logits.shape[2:])
    if logits.ndim == 3 and labels.shape == logits.shape[:2] and not images:
        _refuse_tokens(logits, labels, both=labels.shape == expected)
    if labels.shape != expected:
        raise MentorNetError(
            f"logits of shape {tuple(logits.shape)} need labels of shape {tuple(expected)}, "
            f"got {tuple(labels.shape)}{_hint(logits, labels)}"
        )
    _check_range(labels, logits.shape[1])


def _refuse_tokens(logits: Tensor, labels: Tensor, *, both: bool) -> None:
    given = f"logits of shape {tuple(logits.shape)} with labels of shape {tuple(labels.shape)}"
    if both:
        raise MentorNetError(
            f"{given} may be (B, T, K) or (B, K, T): use MentorLoss(level='token') or level='text' "
            "for the first, level='pixel' for the second, or give logits[..., None] and "
            "labels[..., None] for one weight a sample of the second"
        )
    raise MentorNetError(
        f"{given} look like tokens (B, T, K): use MentorLoss(level='token') for a weight of each "
        "token, or level='text' for one weight a text"
    )


def _hint(logits: Tensor, labels: Tensor) -> str:
    if logits.ndim > 3 and labels.shape == logits.shape[:-1]:
        return "; classes must be in dimension 1: give logits.movedim(-1, 1)"
    return ""


def check_pixels(logits: Tensor, labels: Tensor) -> None:
    """Raise if these are not logits `(B, K, …)` and images of labels `(B, …)`."""
    check_labels(logits, labels, images=True)
    if logits.ndim == 2:
        raise MentorNetError(
            "level='pixel' needs logits of shape (B, K, H, W) and labels (B, H, W), got logits of "
            f"shape {tuple(logits.shape)}; for one label a sample use level='sample'"
        )


def check_tokens(logits: Tensor, labels: Tensor) -> None:
    """Raise if these are not logits `(B, T, K)` of tokens and their labels `(B, T)`."""
    _check_kinds(logits, labels)
    if logits.ndim != 3:
        raise MentorNetError(
            f"level='token' needs logits of shape (B, T, K), got {tuple(logits.shape)}"
            + ("; if every row is a token, use level='sample'" if logits.ndim == 2 else "")
        )
    if labels.shape != logits.shape[:2]:
        raise MentorNetError(
            f"logits of shape {tuple(logits.shape)} have {logits.shape[0]} × {logits.shape[1]} "
            f"tokens, but labels have shape {tuple(labels.shape)}: every token needs a label, "
            f"{IGNORE} where it has none"
        )
    _check_range(labels, logits.shape[2])


def check_pairs(logits: Tensor, labels: Tensor) -> None:
    """Raise if these are not logits `(B, K)` and labels `(B, K)` of 0 and 1, −100 for none."""
    for name, values in (("logits", logits), ("labels", labels)):
        if not isinstance(values, Tensor):
            raise MentorNetError(f"{name} must be a tensor, got {type(values).__name__}")
    if not logits.is_floating_point() or logits.ndim != 2 or logits.numel() == 0:
        raise MentorNetError(
            "level='class' needs floating point logits of shape (B, K), one for each class, got "
            f"{logits.dtype} of shape {tuple(logits.shape)}"
        )
    if labels.shape != logits.shape:
        raise MentorNetError(
            "level='class' needs a label of 0 or 1 for each sample and class, "
            f"{tuple(logits.shape)}, got {tuple(labels.shape)}"
            + ("; for one class a sample use level='sample'" if labels.ndim == 1 else "")
        )
    check_zeros_and_ones(labels)


def check_zeros_and_ones(labels: Tensor) -> None:
    """Raise if a label is neither 0 nor 1 nor −100."""
    if not can_look(labels):
        return
    odd = ~((labels == 0) | (labels == 1) | (labels == IGNORE))
    if odd.any():
        raise MentorNetError(
            f"labels must be 0 or 1, or {IGNORE} for none, at level='class', "
            f"got {labels[odd][0].item():g}"
        )


def _check_kinds(logits: Tensor, labels: Tensor) -> None:
    if not isinstance(logits, Tensor) or not isinstance(labels, Tensor):
        kinds = f"{type(logits).__name__} and {type(labels).__name__}"
        raise MentorNetError(f"logits and labels must be tensors, got {kinds}")
    if not logits.is_floating_point() or logits.ndim < 2 or logits.shape[0] == 0:
        raise MentorNetError(
            f"logits must be floating point of shape (B, K), got {logits.dtype} of shape "
            f"{tuple(logits.shape)}"
        )
    if labels.is_floating_point():
        soft = labels.shape == logits.shape
        raise MentorNetError(
            f"labels must be class numbers (int64), got {labels.dtype} of shape "
            f"{tuple(labels.shape)}"
            + (
                "; for soft labels give losses=F.cross_entropy(…, reduction='none'), and for "
                "several classes a sample use level='class'"
                if soft
                else ""
            )
        )
    if labels.dtype != torch.int64:
        raise MentorNetError(f"labels must be int64, got {labels.dtype}; use labels.long()")


def _check_range(labels: Tensor, classes: int) -> None:
    """Raise if a label is neither one of the classes nor −100."""
    if not can_look(labels):
        return
    outside = (labels < 0) | (labels >= classes)
    if not outside.any():
        return
    outside &= labels != IGNORE
    if outside.any():
        raise MentorNetError(
            f"label {int(labels[outside][0])} is not one of the {classes} classes 0–{classes - 1}; "
            f"{IGNORE} marks what has no label"
        )
