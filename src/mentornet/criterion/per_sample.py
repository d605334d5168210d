"""From what a user has to one loss a sample, `(B,)`, checked at the door.

Shapes: B samples, K classes; images of labels are `(B, …)` with logits `(B, K, …)`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from mentornet.criterion.draws import hashed_uniform
from mentornet.errors import MentorNetError

__all__ = [
    "IGNORE",
    "Judged",
    "check_index",
    "check_known",
    "check_labels",
    "judge",
    "one_each",
    "weighted_nll",
]

IGNORE = -100
"""In an image of labels: a place that has none, as everywhere in torch."""


class Judged(NamedTuple):
    """A batch as the student sees it.

    Attributes:
        log_p: log-probabilities, `(B, K)` or `(B, K, …)`, with gradient.
        losses: ℓ, cross-entropy on the given label, `(B,)`, without gradient; NaN where the
            logits are no numbers.
        wrong: what ℓ would be on a random class that is not predicted, `(B,)`; None for images
            of labels.
        predicted: the most probable class, `(B,)`; −1 where there is none.
    """

    log_p: Tensor
    losses: Tensor
    wrong: Tensor | None
    predicted: Tensor


def judge(logits: Tensor, labels: Tensor, *, seed: int, step: Tensor) -> Judged:
    """Losses and what else follows from logits; rows that are no numbers are made harmless."""
    precise = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    bad = _bad(precise.detach(), labels)
    log_p = precise.masked_fill(_rows(bad, precise), 0.0).log_softmax(1)
    known = log_p.detach()
    losses = F.nll_loss(known, labels, reduction="none", ignore_index=IGNORE)
    if losses.ndim > 1:
        places = (labels != IGNORE).flatten(1).sum(1).clamp(min=1)
        losses = losses.flatten(1).sum(1) / places
        wrong, predicted = None, torch.full_like(labels.flatten(1)[:, 0], -1)
    else:
        likely = known.argmax(1)
        wrong = _on_another_class(known, likely, seed, step).masked_fill(bad, torch.nan)
        predicted = likely.masked_fill(bad, -1)
    return Judged(log_p, losses.masked_fill(bad, torch.nan), wrong, predicted)


def weighted_nll(
    log_p: Tensor, labels: Tensor, weights: Tensor, *, smoothing: float, class_weight: Tensor | None
) -> Tensor:
    """(1/B) Σ v ℓ from log-probabilities; for v = 1 it is `F.cross_entropy` bit for bit.

    Multiplying the log-probabilities, not the losses, leaves the order of every sum as it is
    there.
    """
    log_p = log_p * _rows(weights.detach().to(log_p.dtype), log_p)
    loss = F.nll_loss(log_p, labels, class_weight, ignore_index=IGNORE)
    if not smoothing:
        return loss
    counted = (labels != IGNORE).to(log_p.dtype)
    share = counted
    if class_weight is not None:
        log_p = log_p * class_weight.view(1, -1, *[1] * (log_p.ndim - 2))
        share = counted * class_weight[labels.clamp(min=0)]
    smooth = -(log_p.sum(1) * counted).sum() / share.sum()
    return (1 - smoothing) * loss + smoothing / log_p.shape[1] * smooth


def one_each(losses: Tensor) -> Tensor:
    """Losses of shape `(B, …)` as one a sample: the mean over all but the first axis."""
    if not isinstance(losses, Tensor) or not losses.is_floating_point():
        kind = losses.dtype if isinstance(losses, Tensor) else type(losses).__name__
        raise MentorNetError(f"losses must be a tensor of floating point, got {kind}")
    if losses.ndim == 0:
        raise MentorNetError(
            "losses must be one a sample, got a scalar; use reduction='none' in your loss"
        )
    if losses.numel() == 0:
        raise MentorNetError(f"losses are empty, of shape {tuple(losses.shape)}")
    return losses if losses.ndim == 1 else losses.flatten(1).mean(1)


def check_labels(logits: Tensor, labels: Tensor) -> None:
    """Raise unless these labels can belong to these logits."""
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
            + ("; for soft labels give losses=F.cross_entropy(…, reduction='none')" if soft else "")
        )
    if labels.dtype != torch.int64:
        raise MentorNetError(f"labels must be int64, got {labels.dtype}; use labels.long()")
    expected = (logits.shape[0], *logits.shape[2:])
    if labels.shape != expected:
        raise MentorNetError(
            f"logits of shape {tuple(logits.shape)} need labels of shape {tuple(expected)}, "
            f"got {tuple(labels.shape)}"
        )
    if _can_look(labels):
        outside = (labels < 0) | (labels >= logits.shape[1])
        if logits.ndim > 2:
            outside &= labels != IGNORE
        if outside.any():
            raise MentorNetError(
                f"label {int(labels[outside][0])} is not one of the {logits.shape[1]} classes "
                f"0–{logits.shape[1] - 1}"
            )


def check_known(labels: Tensor, count: int, reader: str) -> None:
    """Raise if there are labels beyond those that `reader` knows."""
    if _can_look(labels) and bool(((labels < 0) | (labels >= count)).any()):
        raise MentorNetError(
            f"{reader} knows labels 0–{count - 1}, got {int(labels.min())} to {int(labels.max())}"
        )


def check_index(index: Tensor, batch: int, samples: int | None) -> None:
    """Raise unless these are B different samples of N."""
    if not isinstance(index, Tensor) or index.dtype not in (torch.int32, torch.int64):
        kind = index.dtype if isinstance(index, Tensor) else type(index).__name__
        raise MentorNetError(f"index must be a tensor of whole numbers, got {kind}")
    if index.shape != (batch,):
        raise MentorNetError(
            f"index must name each of the {batch} samples, got shape {tuple(index.shape)}"
        )
    if not _can_look(index):
        return
    if samples is not None:
        outside = (index < 0) | (index >= samples)
        if outside.any():
            raise MentorNetError(
                f"index {int(index[outside][0])} is not one of the {samples} samples "
                f"0–{samples - 1}; is samples= the size of the whole training set?"
            )
    values, times = index.unique(return_counts=True)
    if len(values) < len(index):
        raise MentorNetError(
            f"index {int(values[times > 1][0])} is there twice in one batch; "
            "draw the samples of a batch without replacement"
        )


def _can_look(values: Tensor) -> bool:
    """Whether values can be looked at without waiting for a device or breaking a graph."""
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def _bad(logits: Tensor, labels: Tensor) -> Tensor:
    """Rows `(B,)` whose loss is no number; −∞ on a class that is not the label is fine."""
    largest = logits.amax(1)
    place = labels.clamp(min=0).unsqueeze(1)
    bad = ~(largest.isfinite() & logits.gather(1, place).squeeze(1).isfinite())
    return bad if bad.ndim == 1 else bad.flatten(1).any(1)


def _rows(values: Tensor, like: Tensor) -> Tensor:
    """`(B,)` as `(B, 1, …)`."""
    return values.view(-1, *[1] * (like.ndim - 1))


def _on_another_class(log_p: Tensor, predicted: Tensor, seed: int, step: Tensor) -> Tensor:
    batch, classes = log_p.shape
    rows = torch.arange(batch, device=log_p.device)
    draws = hashed_uniform(seed + 1, step, rows)
    shift = 1 + (draws * (classes - 1)).long().clamp(max=max(classes - 2, 0))
    other = (predicted + shift) % classes
    return -log_p.gather(1, other[:, None])[:, 0]
