"""Forms of logits and labels: how those of a level become elements, and weights become a loss.

Shapes: B samples, K classes, T tokens, E elements; images of labels are `(B, …)` with logits
`(B, K, …)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from mentornet.errors import MentorNetError
from mentornet.precision import HALF
from mentornet.verdicts import Verdicts
from mentornet.weighting.elements import Elements
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import IGNORE, Evidence
from mentornet.weighting.label_checks import (
    can_look,
    check_labels,
    check_pairs,
    check_pixels,
    check_tokens,
)
from mentornet.weighting.observing import observe, weighted_nll
from mentornet.weighting.texts import Texts

__all__ = ["ClassPairs", "CrossEntropy", "Form", "form_of", "verdicts_on_elements"]


class Form(Protocol):
    """What a level of `MentorLoss` knows of the shape of logits and labels."""

    def arranged(self, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Check logits and labels, and return them in the shape that the other functions take."""

    def observe(
        self,
        logits: Tensor,
        labels: Tensor,
        index: Tensor | None,
        engine: Weighting,
        *,
        width: int,
        margins: bool,
    ) -> tuple[Evidence, Tensor]:
        """Return the evidence of the elements, and with gradient what `weighted` takes."""

    def weighted(
        self,
        seen: Tensor,
        labels: Tensor,
        weights: Tensor,
        smoothing: float,
        class_weight: Tensor | None,
        items: Tensor | int | None,
    ) -> Tensor:
        """Return (1/E) Σ v ℓ over the E elements with a label, a scalar; E may be given."""

    def plain(
        self, logits: Tensor, labels: Tensor, smoothing: float, class_weight: Tensor | None
    ) -> Tensor:
        """Return the loss without weights, a scalar."""

    def classes_of(self, labels: Tensor) -> Tensor:
        """Return the class number of each element, `(E,)`; −100 for no label."""

    def labels_of(self, classes: Tensor, labels: Tensor) -> Tensor:
        """Return the labels of elements with these class numbers, in the shape of `labels`."""

    def classes_at(self, labels: Tensor, place: Tensor) -> Tensor:
        """Return the class numbers of labels, `(M,)`, at these places of their samples, `(M,)`."""

    def names_of(self, classes: Sequence[str] | None, seen: Tensor) -> Sequence[str] | None:
        """Return the names of the class numbers that occur in `seen`, if they have names."""


class CrossEntropy:
    """The form of levels "sample", "token" and "pixel": one class of K for each label.

    Args:
        level: the level.
    """

    def __init__(self, level: str) -> None:
        self.level = level

    def arranged(self, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Check logits and labels; tokens become `(E, K)` and `(E,)`."""
        if self.level == "token":
            check_tokens(logits, labels)
            return logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
        if self.level == "pixel":
            check_pixels(logits, labels)
        else:
            check_labels(logits, labels)
        return logits, labels

    def observe(
        self,
        logits: Tensor,
        labels: Tensor,
        index: Tensor | None,
        engine: Weighting,
        *,
        width: int,
        margins: bool,
    ) -> tuple[Evidence, Tensor]:
        """Return the evidence, and the log-probabilities; see `observe`."""
        each = None if self.level == "sample" else width
        seen, log_p = observe(logits, labels, index, engine, margins=margins, width=each)
        if self.level == "pixel":
            seen = seen.with_columns([column.flatten() for column in seen.columns])
        return seen, log_p

    def weighted(
        self,
        seen: Tensor,
        labels: Tensor,
        weights: Tensor,
        smoothing: float,
        class_weight: Tensor | None,
        items: Tensor | int | None,
    ) -> Tensor:
        """Return the weighted cross-entropy; for v = 1 it is that of torch, bit for bit."""
        if self.level != "sample":
            weights = weights.view_as(labels)
        return weighted_nll(
            seen, labels, weights, smoothing=smoothing, class_weight=class_weight, items=items
        )

    def plain(
        self, logits: Tensor, labels: Tensor, smoothing: float, class_weight: Tensor | None
    ) -> Tensor:
        """Return `F.cross_entropy`."""
        if class_weight is not None and logits.dtype in HALF:
            logits = logits.float()
        return F.cross_entropy(logits, labels, class_weight, label_smoothing=smoothing)

    def classes_of(self, labels: Tensor) -> Tensor:
        """Return the labels, `(E,)`."""
        return labels.flatten()

    def labels_of(self, classes: Tensor, labels: Tensor) -> Tensor:
        """Return the class numbers, in the shape of `labels`."""
        return classes.view_as(labels)

    def classes_at(self, labels: Tensor, place: Tensor) -> Tensor:  # noqa: ARG002
        """Return the labels."""
        return labels

    def names_of(
        self,
        classes: Sequence[str] | None,
        seen: Tensor,  # noqa: ARG002
    ) -> Sequence[str] | None:
        """Return the names as they are."""
        return classes


class ClassPairs:
    """The form of level "class": each pair of sample and class is labelled 0 or 1.

    The pair of class k with label y counts as class 2k + y. So each class has a noise rate, a loss
    level and an audit of its own 0s and 1s, of which one is often rare.
    """

    def arranged(self, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Check logits and labels, `(B, K)` each."""
        check_pairs(logits, labels)
        return logits, labels

    def observe(
        self,
        logits: Tensor,
        labels: Tensor,
        index: Tensor | None,
        engine: Weighting,  # noqa: ARG002
        *,
        width: int,  # noqa: ARG002
        margins: bool,
    ) -> tuple[Evidence, Tensor]:
        """Return the evidence of the pairs, and logits in which all numbers are finite.

        The logit z of a class is the margin of label 1, and −z that of label 0.
        """
        precise = logits.float() if logits.dtype in HALF else logits
        known = precise.detach()
        spoilt = ~known.isfinite()
        if not can_look(known) or bool(spoilt.any()):
            precise = precise.masked_fill(spoilt, 0.0)
            known = precise.detach()
        margin = torch.where(labels == 1, known, -known)
        none = spoilt | (labels == IGNORE)
        losses = F.softplus(-margin).masked_fill(none, torch.nan)
        wrong = F.softplus(known.abs()).masked_fill(none, torch.nan)
        likely = self._code((known > 0).long()).masked_fill(none, -1)
        return Evidence(
            losses.flatten(), self.classes_of(labels), likely.flatten(), index, wrong.flatten(),
            margin.flatten() if margins else None,
        ), precise  # fmt: skip

    def weighted(
        self,
        seen: Tensor,
        labels: Tensor,
        weights: Tensor,
        smoothing: float,  # noqa: ARG002
        class_weight: Tensor | None,
        items: Tensor | int | None,
    ) -> Tensor:
        """Return the weighted binary cross-entropy; for v = 1 it is that of torch, bit for bit."""
        weights = weights.detach().view_as(seen).to(seen.dtype)
        if class_weight is not None:
            weights = weights * class_weight
        return _binary(seen, labels, weights, items)

    def plain(
        self,
        logits: Tensor,
        labels: Tensor,
        smoothing: float,  # noqa: ARG002
        class_weight: Tensor | None,
    ) -> Tensor:
        """Return `F.binary_cross_entropy_with_logits` over the pairs with a label."""
        precise = logits.float() if logits.dtype in HALF else logits
        weights = torch.ones_like(precise) if class_weight is None else class_weight
        return _binary(precise, labels, weights * (labels != IGNORE))

    def classes_of(self, labels: Tensor) -> Tensor:
        """Return 2k + y, `(E,)`."""
        return torch.where(labels == IGNORE, IGNORE, self._code((labels == 1).long())).flatten()

    def labels_of(self, classes: Tensor, labels: Tensor) -> Tensor:
        """Return y of 2k + y, in the shape of `labels`."""
        return torch.where(labels == IGNORE, labels, classes.view_as(labels) % 2)

    def classes_at(self, labels: Tensor, place: Tensor) -> Tensor:
        """Return 2k + y, where k is the place; negative labels stay."""
        return torch.where(labels < 0, labels, 2 * place + labels)

    def names_of(self, classes: Sequence[str] | None, seen: Tensor) -> Sequence[str] | None:
        """Return for each class the name of its label 0, "not cat", and of its label 1, "cat"."""
        if classes is None:
            classes = [f"{number}" for number in range(int(seen.max()) // 2 + 1)]
        return [name for one in classes for name in (f"not {one}", one)]

    def _code(self, labels: Tensor) -> Tensor:
        return labels + 2 * torch.arange(labels.shape[1], device=labels.device)


def _binary(
    logits: Tensor, labels: Tensor, weights: Tensor, items: Tensor | int | None = None
) -> Tensor:
    """Return Σ v ℓ over `items` or the number of labels; weights without a label must be 0."""
    loss = F.binary_cross_entropy_with_logits(logits, (labels == 1).to(logits.dtype), weights)
    counted = (labels != IGNORE).sum().clamp(min=1) if items is None else torch.as_tensor(items)
    return loss * (labels.numel() / counted).to(loss.dtype)


def form_of(level: str) -> Form:
    """Return the form of logits and labels at a level."""
    if level == "text":
        return Texts()
    return ClassPairs() if level == "class" else CrossEntropy(level)


def verdicts_on_elements(verdicts: Verdicts, elements: Elements | None, form: Form) -> Verdicts:
    """Return verdicts on the class numbers of elements, or raise if there are no such elements."""
    if elements is None:
        raise MentorNetError(
            "at levels finer than a sample, verdicts are on elements: give elements=, how many of "
            "them a sample has"
        )
    verdicts.check(elements.total)
    place = elements.places(verdicts.index)[1].to(verdicts.index.device)
    return replace(verdicts, true_label=form.classes_at(verdicts.true_label, place))
