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
from mentornet.weighting.checks import IGNORE, can_look
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import Evidence, loss_on_another_class, processes_here

__all__ = ["observe", "one_each", "weighted_nll"]


def observe(
    logits: Tensor, labels: Tensor, index: Tensor | None, engine: Weighting, *, margins: bool
) -> tuple[Evidence, Tensor]:
    """Return the evidence of a batch, and the log-probabilities with gradient.

    Logits of samples whose loss is not finite are replaced by 0, so that no gradient is NaN. Their
    loss in the evidence is NaN, as is that of an image without any label.

    Args:
        logits: the logits, `(B, K)` or `(B, K, …)`.
        labels: the given labels, `(B,)` or `(B, …)`.
        index: the numbers of the samples, `(B,)`, or None.
        engine: the engine that will read the evidence.
        margins: whether to compute margins; images of labels have none.
    """
    precise = logits.float() if logits.dtype in HALF else logits
    log_p = precise.log_softmax(1)
    known = log_p.detach()
    losses = F.nll_loss(known, labels, reduction="none", ignore_index=IGNORE)
    bad = None
    if not (labels.ndim == 1 and can_look(losses) and bool(losses.isfinite().all())):
        bad, log_p = _harmless(precise, labels)
        known = log_p.detach()
        losses = F.nll_loss(known, labels, reduction="none", ignore_index=IGNORE)
    if bad is not None and losses.ndim > 1:
        places = (labels != IGNORE).flatten(1).sum(1)
        unlabelled = places == 0
        losses = (losses.flatten(1).sum(1) / places).masked_fill(bad | unlabelled, torch.nan)
        predicted = torch.full_like(labels.flatten(1)[:, 0], -1)
        label = torch.zeros_like(predicted)
        return Evidence(losses, label, predicted, index, unlabelled=unlabelled), log_p
    likely, first = known.argmax(1), processes_here().place(len(labels))[0].start
    wrong = loss_on_another_class(known, likely, step=engine.step, first=first)
    if bad is not None:
        losses, wrong = losses.masked_fill(bad, torch.nan), wrong.masked_fill(bad, torch.nan)
        likely = likely.masked_fill(bad, -1)
    lead = margins_of(known, labels) if margins else None
    return Evidence(losses, labels, likely, index, wrong, lead), log_p


def _harmless(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return which samples have no finite loss, `(B,)`, and finite log-probabilities of all."""
    bad, beside = _bad(logits.detach(), labels)
    harmless = logits.masked_fill(_rows(bad, logits), 0.0)
    if beside is not None:
        harmless = harmless.masked_fill(beside.unsqueeze(1), 0.0)
    return bad, harmless.log_softmax(1)


def weighted_nll(
    log_p: Tensor, labels: Tensor, weights: Tensor, *, smoothing: float, class_weight: Tensor | None
) -> Tensor:
    """Return (1/B) Σ v ℓ from log-probabilities; for v = 1 it is `F.cross_entropy` bit for bit.

    The weights multiply the log-probabilities, not the losses, to keep the order of all sums.
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
    """Return one loss per sample, `(B,)`: the mean over all but the first axis."""
    if not isinstance(losses, Tensor) or not losses.is_floating_point():
        kind = losses.dtype if isinstance(losses, Tensor) else type(losses).__name__
        raise MentorNetError(f"losses must be a floating point tensor, got {kind}")
    if losses.ndim == 0:
        raise MentorNetError(
            "losses must be one per sample, got a scalar; use reduction='none' in your loss"
        )
    if losses.numel() == 0:
        raise MentorNetError(f"losses are empty, of shape {tuple(losses.shape)}")
    return losses if losses.ndim == 1 else losses.flatten(1).mean(1)


def _bad(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return which samples have no finite loss, `(B,)`; −∞ on a class but the label is fine.

    For images of labels, also return the places `(B, …)` without a label where that is so.
    """
    largest = logits.amax(1)
    place = labels.clamp(min=0).unsqueeze(1)
    bad = ~(largest.isfinite() & logits.gather(1, place).squeeze(1).isfinite())
    if bad.ndim == 1:
        return bad, None
    labelled = labels != IGNORE
    return (bad & labelled).flatten(1).any(1), bad & ~labelled


def _rows(values: Tensor, like: Tensor) -> Tensor:
    """Reshape `(B,)` to `(B, 1, …)`."""
    return values.view(-1, *[1] * (like.ndim - 1))
