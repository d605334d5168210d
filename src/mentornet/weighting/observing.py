"""Compute the evidence of a batch from the logits or losses of a user's loop.

Shapes: B samples, K classes; images of labels are `(B, …)` with logits `(B, K, …)`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from mentornet.errors import MentorNetError
from mentornet.precision import HALF
from mentornet.records import margins_of
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import (
    IGNORE,
    Evidence,
    loss_on_another_class,
    processes_here,
)
from mentornet.weighting.label_checks import can_look

__all__ = ["check_losses", "labelled_mean", "observe", "one_each", "weighted_nll"]


def observe(
    logits: Tensor,
    labels: Tensor,
    index: Tensor | None,
    engine: Weighting,
    *,
    margins: bool,
    width: int | None = None,
) -> tuple[Evidence, Tensor]:
    """Return the evidence of a batch, and the log-probabilities with gradient.

    Logits of samples whose loss is not finite are replaced by 0, so that no gradient is NaN. Their
    loss in the evidence is NaN, as is that of what has no label.

    Args:
        logits: the logits, `(B, K)` or `(B, K, …)`.
        labels: the given labels, `(B,)` or `(B, …)`; −100 for none.
        index: the numbers of the samples, `(B,)`, or None.
        engine: the engine that will read the evidence.
        margins: whether to compute margins; images of labels have none.
        width: S, if every label is of an element with a weight of its own: how many of them a
            sample has. By default an image of labels is one sample, with the mean of its losses.
    """
    precise = logits.float() if logits.dtype in HALF else logits
    log_p = precise.log_softmax(1)
    known = log_p.detach()
    losses = F.nll_loss(known, labels, reduction="none", ignore_index=IGNORE)
    each, bad, look = labels.ndim == 1 or width is not None, None, can_look(losses)
    if not (each and look and bool(losses.isfinite().all()) and int(labels.amin()) >= 0):
        bad, spoilt = _not_finite(precise.detach(), labels, each=each)
        if not look or bool(spoilt.any()):
            log_p = precise.masked_fill(spoilt.unsqueeze(1), 0.0).log_softmax(1)
            known = log_p.detach()
            losses = F.nll_loss(known, labels, reduction="none", ignore_index=IGNORE)
    if not each:
        assert bad is not None
        return _images(losses, labels, bad, index), log_p
    width = width or 1
    likely, first = known.argmax(1), processes_here().place(labels.numel() // width)[0].start
    wrong = loss_on_another_class(known, likely, step=engine.step, first=first, width=width)
    if bad is not None:
        none = bad | (labels == IGNORE)
        losses, wrong = losses.masked_fill(none, torch.nan), wrong.masked_fill(none, torch.nan)
        likely = likely.masked_fill(none, -1)
    lead = margins_of(known, labels if bad is None else labels.clamp(min=0)) if margins else None
    return Evidence(losses, labels, likely, index, wrong, lead), log_p


def _images(losses: Tensor, labels: Tensor, bad: Tensor, index: Tensor | None) -> Evidence:
    """Return the evidence of images of labels, each a sample, with the mean of its losses."""
    places = (labels != IGNORE).flatten(1).sum(1)
    unlabelled = places == 0
    losses = (losses.flatten(1).sum(1) / places).masked_fill(bad | unlabelled, torch.nan)
    predicted = torch.full_like(places, -1)
    label = torch.zeros_like(places).masked_fill(unlabelled, IGNORE)
    return Evidence(losses, label, predicted, index)


def _not_finite(logits: Tensor, labels: Tensor, *, each: bool) -> tuple[Tensor, Tensor]:
    """Return what has a label but no finite loss, and where logits must be replaced.

    −∞ on a class that is not the label is fine.

    Args:
        logits: the logits, `(B, K, …)`.
        labels: the given labels, `(B, …)`.
        each: whether every label is judged by itself; if not, a sample is as a whole.

    Returns:
        The first, `(B,)`, or `(B, …)` if `each`; and the places to replace, `(B, …)`.
    """
    place = labels.clamp(min=0).unsqueeze(1)
    spoilt = ~(logits.amax(1).isfinite() & logits.gather(1, place).squeeze(1).isfinite())
    bad = spoilt & (labels != IGNORE)
    if each:
        return bad, spoilt
    bad = bad.flatten(1).any(1)
    return bad, spoilt | bad.view(-1, *[1] * (labels.ndim - 1))


def weighted_nll(
    log_p: Tensor,
    labels: Tensor,
    weights: Tensor,
    *,
    smoothing: float,
    class_weight: Tensor | None,
    items: Tensor | int | None = None,
) -> Tensor:
    """Return (1/B) Σ v ℓ from log-probabilities; for v = 1 it is `F.cross_entropy` bit for bit.

    The weights, `(B,)` or in the shape of the labels, multiply the log-probabilities, not the
    losses, to keep the order of all sums. B counts what has a label, unless it is given as `items`.
    """
    weights = weights.detach().to(log_p.dtype)
    each = weights.ndim == labels.ndim
    log_p = log_p * (weights.unsqueeze(1) if each else _rows(weights, log_p))
    reduction = "mean" if items is None else "sum"
    loss = F.nll_loss(log_p, labels, class_weight, ignore_index=IGNORE, reduction=reduction)
    if items is not None:
        loss = loss / items
    if not smoothing:
        return loss
    counted = (labels != IGNORE).to(log_p.dtype)
    share = counted
    if class_weight is not None:
        log_p = log_p * class_weight.view(1, -1, *[1] * (log_p.ndim - 2))
        share = counted * class_weight[labels.clamp(min=0)]
    smooth = -(log_p.sum(1) * counted).sum() / (share.sum() if items is None else items)
    return (1 - smoothing) * loss + smoothing / log_p.shape[1] * smooth


def one_each(losses: Tensor) -> Tensor:
    """Return one loss per sample, `(B,)`: the mean over all but the first axis."""
    check_losses(losses)
    return losses if losses.ndim == 1 else losses.flatten(1).mean(1)


def check_losses(losses: Tensor) -> Tensor:
    """Return the losses, or raise if they cannot be those of a batch."""
    if not isinstance(losses, Tensor) or not losses.is_floating_point():
        kind = losses.dtype if isinstance(losses, Tensor) else type(losses).__name__
        raise MentorNetError(f"losses must be a floating point tensor, got {kind}")
    if losses.ndim == 0:
        raise MentorNetError(
            "losses must be one per sample, got a scalar; use reduction='none' in your loss"
        )
    if losses.numel() == 0:
        raise MentorNetError(f"losses are empty, of shape {tuple(losses.shape)}")
    return losses


def labelled_mean(losses: Tensor, labels: Tensor | None) -> Tensor:
    """Return the mean of the losses that have a label; all of them if no labels are given."""
    if labels is None or labels.shape != losses.shape:
        return losses.mean()
    unlabelled = labels == IGNORE
    count = (~unlabelled).sum().clamp(min=1)
    return losses.masked_fill(unlabelled, 0.0).mean() * (losses.numel() / count).to(losses.dtype)


def _rows(values: Tensor, like: Tensor) -> Tensor:
    """Reshape `(B,)` to `(B, 1, …)`."""
    return values.view(-1, *[1] * (like.ndim - 1))
