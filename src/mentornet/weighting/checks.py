"""Checks of the arguments of `MentorLoss`.

Values are checked only where that costs nothing: on the CPU, and not while a graph is compiled.
Shapes: B samples in the batch, K classes, N samples in the training set.
"""

from __future__ import annotations

import operator
import warnings

import numpy as np
import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor, MentorSeries
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import IGNORE, Evidence
from mentornet.weighting.label_checks import can_look
from mentornet.weighting.levels import ClassLossLevel

__all__ = [
    "as_shares",
    "check_auto",
    "check_cross_entropy",
    "check_evidence",
    "check_given_labels",
    "check_index",
    "check_known",
    "check_numbers",
    "check_steps",
    "whole_number",
]

_ROUNDING = 1e-3  # how far below 0 a loss may be by rounding


def whole_number(name: str, value: object, *, least: int) -> int:
    """Return the value as an int; a float such as `epochs * N / batch` is fine if it is whole."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        if not isinstance(value, float | np.floating) or not float(value).is_integer():
            hint = "; usually epochs * len(loader)" if name == "total_steps" else ""
            raise MentorNetError(f"{name} must be a whole number, got {value!r}{hint}") from None
        number = int(value)
    if number < least:
        raise MentorNetError(f"{name} must be ≥ {least}, got {number}")
    return number


def check_known(labels: Tensor, count: int, reader: str) -> None:
    """Raise if a label is outside of 0 to `count` − 1, the labels that `reader` knows."""
    if not can_look(labels):
        return
    known = labels[labels != IGNORE]
    if len(known) and bool(((known < 0) | (known >= count)).any()):
        raise MentorNetError(
            f"{reader} knows labels 0–{count - 1}, got {int(known.min())} to {int(known.max())}"
        )


def check_given_labels(
    losses: Tensor, labels: Tensor | None, engine: Weighting, by_class: int | None
) -> Tensor:
    """Return one label per loss; they are 0 if none are given and nothing reads them."""
    if labels is None:
        rule = engine.rule
        if by_class or (isinstance(rule, Mentor | MentorSeries) and rule.config.use_label):
            reader = "by_class" if by_class else "this mentor"
            raise MentorNetError(f"labels are missing: {reader} reads them")
        return torch.zeros_like(losses, dtype=torch.long)
    if labels.shape != losses.shape:
        raise MentorNetError(
            f"labels must have the shape of losses {tuple(losses.shape)}, got {tuple(labels.shape)}"
        )
    if labels.dtype != torch.int64:
        raise MentorNetError(f"labels must be int64, got {labels.dtype}; use labels.long()")
    return labels


def check_index(index: Tensor | None, batch: int, samples: int | None) -> None:
    """Raise if `index` does not name B different samples of N; without N it may be None."""
    if index is None:
        if samples is not None:
            raise MentorNetError(
                "index is missing: with samples= each call must name its samples, as in "
                "criterion(logits, labels, index=index)"
            )
        return
    if not isinstance(index, Tensor) or index.dtype not in (torch.int32, torch.int64):
        kind = index.dtype if isinstance(index, Tensor) else type(index).__name__
        raise MentorNetError(f"index must be a tensor of whole numbers, got {kind}")
    if index.shape != (batch,):
        raise MentorNetError(
            f"index must name each of the {batch} samples, got shape {tuple(index.shape)}"
        )
    if not can_look(index):
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
            f"index {int(values[times > 1][0])} occurs twice in one batch; "
            "draw the samples of a batch without replacement"
        )


def check_numbers(evidence: Evidence, step: Tensor, *, first: Tensor | bool) -> None:
    """Raise if all losses are NaN or infinite; if only some are, warn the first time.

    Also raise if the first batch has no label; later, such a batch is as in torch.

    Args:
        evidence: the evidence of the batch.
        step: the number of the step.
        first: whether all losses of earlier steps were finite.
    """
    if not can_look(evidence.losses):
        return
    bad = evidence.losses.isnan()
    if not bad.any():
        return
    labelled = evidence.labels != IGNORE
    if not labelled.any():
        if step == 0:
            raise MentorNetError(
                f"all {len(labelled)} labels of the first batch are {IGNORE}, so there is nothing "
                "to learn; is the column of labels the right one, and are texts cut off before "
                "their labels begin?"
            )
        return
    bad &= labelled
    if not bad.any():
        return
    if bad.sum() == labelled.sum():
        raise MentorNetError(
            f"all {int(bad.sum())} losses of the batch are NaN or infinite, at step {int(step)}; "
            "did the student diverge? Try a lower learning rate"
        )
    if first:
        warnings.warn(
            f"{int(bad.sum())} of {len(bad)} losses are NaN or infinite; their weight is 0. "
            'metrics()["bad_samples"] counts all of them',
            stacklevel=6,
        )


def check_steps(total_steps: int | None, samples: int | None) -> tuple[int, int | None]:
    """Return the number of steps and of samples as integers, or raise if they are not."""
    if total_steps is None:
        raise MentorNetError(
            "total_steps is missing: how often will the loss be called in training? "
            "Usually epochs * len(loader)"
        )
    total_steps = whole_number("total_steps", total_steps, least=1)
    return total_steps, None if samples is None else whole_number("samples", samples, least=1)


def check_auto(percentile: float | None, burn_in_drop: float | None) -> None:
    """Raise if a percentile or a share to drop is given, which "auto" does not use."""
    if percentile is not None:
        raise MentorNetError(
            f"mentor 'auto' finds its own percentile, got percentile={percentile:g}; "
            "leave it out, or use mentor='pd'"
        )
    if burn_in_drop:
        raise MentorNetError(f"mentor 'auto' drops no samples, got burn_in_drop={burn_in_drop:g}")


def check_cross_entropy(label_smoothing: float, class_weight: Tensor | None) -> None:
    """Raise if the settings of the cross-entropy are of a wrong type or out of range."""
    if class_weight is not None and not isinstance(class_weight, Tensor):
        kind = type(class_weight).__name__
        raise MentorNetError(f"class_weight must be a tensor (K,), got {kind}")
    if not 0 <= label_smoothing <= 1:
        raise MentorNetError(f"label_smoothing must be in [0, 1], got {label_smoothing:g}")


def check_evidence(evidence: Evidence, engine: Weighting) -> None:
    """Raise if the engine cannot compute weights from this evidence."""
    simulates_wrong = engine.learning is not None and engine.learning.simulates_wrong
    if simulates_wrong and evidence.wrong is None:
        raise MentorNetError(
            "all verified labels are correct, so wrong ones are simulated, which needs logits: "
            "give logits (B, K), not losses, or verify wrong labels too (learn_from)"
        )
    if isinstance(engine.level, ClassLossLevel):
        check_known(evidence.labels, engine.level.classes, "by_class")
    rule = engine.rule
    if isinstance(rule, Mentor | MentorSeries) and rule.config.use_label:
        check_known(evidence.labels, rule.config.num_classes, "this mentor")


def as_shares(weights: Tensor, losses: Tensor, name: str) -> Tensor:
    """Return the weights, clipped to [0, 1]; some formulas exceed it for losses below 0.

    Raise an error if a loss is further below 0 than by rounding.
    """
    if not can_look(weights) or bool(((weights >= 0) & (weights <= 1)).all()):
        return weights
    least = losses[losses.isfinite()].min()
    if least < -_ROUNDING:
        raise MentorNetError(
            f"{name} gives weights outside [0, 1] for losses below 0, and the smallest loss is "
            f"{least:g}; use mentor='auto' or 'pd', or add a constant to the losses"
        )
    return weights.nan_to_num(1.0).clamp(0, 1)
