"""The form of level "text": all tokens of a text share one weight.

Shapes: B texts, T tokens, K words or tags, E = B · T.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import IGNORE, Evidence
from mentornet.weighting.label_checks import check_tokens
from mentornet.weighting.observing import observe, weighted_nll

__all__ = ["Texts", "labels_of_others"]


class Texts:
    """The form of level "text", with logits `(B, T, K)` and labels `(B, T)`.

    The loss of a text is the mean over its tokens with a label. That of a wrong text is what the
    student's loss would be if the text had the labels of the next text of the batch.
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
        losses = _means(tokens.losses.view_as(labels), labelled)
        other = labels_of_others(labels)
        each = -log_p.detach().gather(1, other.clamp(min=0).view(-1, 1)).view_as(labels)
        comparable = (other != IGNORE) & (other != labels).any(1, keepdim=True)
        wrong = _means(each, comparable).masked_fill(losses.isnan(), torch.nan)
        unlabelled = ~labelled.any(1)
        label = torch.zeros_like(labels[:, 0]).masked_fill(unlabelled, IGNORE)
        return Evidence(losses, label, torch.full_like(label, -1), index, wrong), log_p

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


def labels_of_others(labels: Tensor) -> Tensor:
    """Return the labels of the next text of the batch, at the places of one's own, `(B, T)`.

    The first label of the next text stands where one's own first label is, and so on. −100 is where
    there is no label, or none left in the next text. A single text is compared with itself, its
    labels moved by one.

    Args:
        labels: `(B, T)`, −100 for none.

    >>> labels_of_others(torch.tensor([[-100, 1, 2, 3], [-100, -100, 7, 8]]))
    tensor([[-100,    7,    8, -100],
            [-100, -100,    1,    2]])
    """
    labelled = labels != IGNORE
    rank = labelled.cumsum(1) - 1
    spare = labels.shape[1]
    first = labels.new_full((len(labels), spare + 1), IGNORE)
    first = first.scatter(1, torch.where(labelled, rank, spare), labels)[:, :spare]
    if len(labels) > 1:
        next_one = first.roll(-1, 0)
    else:
        count = labelled.sum(1, keepdim=True).clamp(min=1)
        next_one = first.gather(1, (torch.arange(spare, device=labels.device) + 1) % count)
    return next_one.gather(1, rank.clamp(min=0)).masked_fill(~labelled, IGNORE)


def _means(values: Tensor, counted: Tensor) -> Tensor:
    """Return the mean of the counted values of each row, NaN if there are none."""
    return values.masked_fill(~counted, 0.0).sum(1) / counted.sum(1)
