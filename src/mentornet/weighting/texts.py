"""The form of level "text": all tokens of a text share one weight.

Shapes: B texts, T tokens, K words or tags, E = B · T.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import IGNORE, Evidence
from mentornet.weighting.label_checks import check_tokens
from mentornet.weighting.observing import observe, weighted_nll

__all__ = ["Texts"]


class Texts:
    """The form of level "text", with logits `(B, T, K)` and labels `(B, T)`.

    The loss of a text is the mean over its tokens with a label. What the loss of a wrong text would
    be is not known: a wrong answer may surprise in every word, or in one and then go on fluently.
    """

    def arranged(self, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Check logits and labels."""
        check_tokens(logits, labels)
        return logits, labels

    def observe(
        self,
        logits: Tensor,
        labels: Tensor,
        index: Tensor | None,
        engine: Weighting,
        *,
        width: int,  # noqa: ARG002
        margins: bool,  # noqa: ARG002
    ) -> tuple[Evidence, Tensor]:
        """Return the evidence of the texts, and the log-probabilities of all tokens, `(E, K)`."""
        flat = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
        tokens, log_p = observe(*flat, None, engine, margins=False, width=labels.shape[1])
        labelled = labels != IGNORE
        losses = tokens.losses.view_as(labels).masked_fill(~labelled, 0.0).sum(1) / labelled.sum(1)
        label = torch.zeros_like(labels[:, 0]).masked_fill(~labelled.any(1), IGNORE)
        return Evidence(losses, label, torch.full_like(label, -1), index), log_p

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
        return weighted_nll(
            seen, labels.reshape(-1), weights.repeat_interleave(labels.shape[1]),
            smoothing=smoothing, class_weight=class_weight, items=items,
        )  # fmt: skip

    def plain(
        self, logits: Tensor, labels: Tensor, smoothing: float, class_weight: Tensor | None
    ) -> Tensor:
        """Return `F.cross_entropy` of all tokens."""
        return F.cross_entropy(
            logits.float().reshape(-1, logits.shape[-1]), labels.reshape(-1), class_weight,
            label_smoothing=smoothing,
        )  # fmt: skip

    def classes_of(self, labels: Tensor) -> Tensor:
        """Return the labels, `(B,)`."""
        return labels

    def labels_of(self, classes: Tensor, labels: Tensor) -> Tensor:  # noqa: ARG002
        """Return the labels as they are: the true words of a text are not known."""
        return labels

    def classes_at(self, labels: Tensor, place: Tensor) -> Tensor:  # noqa: ARG002
        """Return the labels."""
        return labels

    def names_of(
        self,
        classes: Sequence[str] | None,  # noqa: ARG002
        seen: Tensor,  # noqa: ARG002
    ) -> Sequence[str] | None:
        """Return None: a text has no class."""
        return None
