"""Groups: elements that share one weight, such as the sub-words of a word.

Shapes: B samples, P places of each (tokens or pixels), E = B · P.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.weighting.evidence import IGNORE, Evidence
from mentornet.weighting.label_checks import can_look

__all__ = ["Groups"]


class Groups:
    """Joins the places of each group to one element, and gives its weight to all of them.

    Args:
        groups: the number of the group of each place in its sample, `(B, P)`, in 0–P−1; negative
            where there is no label.
        labels: the given labels, `(B, P)`; −100 for none.

    >>> labels = torch.tensor([[3, 3, 1, -100]])
    >>> groups = Groups(torch.tensor([[0, 0, 1, -1]]), labels)
    >>> losses = torch.tensor([1.0, 3.0, 5.0, torch.nan])
    >>> words = groups.joined(Evidence(losses, labels[0], predicted=labels[0]))
    >>> words.losses, words.labels
    (tensor([2., 5., nan, nan]), tensor([   3,    1, -100, -100]))
    >>> groups.spread(torch.tensor([0.3, 1.0, 0.0, 0.0]))
    tensor([0.3000, 0.3000, 1.0000, 0.0000])
    """

    def __init__(self, groups: Tensor, labels: Tensor) -> None:
        _check(groups, labels)
        groups, labels = groups.flatten(1), labels.flatten(1)
        self.width = groups.shape[1]
        self.labelled = (labels != IGNORE).flatten()
        rows = torch.arange(len(groups), device=groups.device)[:, None] * self.width
        self.slot = (rows + groups.clamp(min=0, max=self.width - 1)).flatten()

    def joined(self, places: Evidence) -> Evidence:
        """Return the evidence of the groups, `(E,)`, as each sample may have P of them.

        Losses and margins are means over the labelled places of a group; its label and prediction
        are those of the first one.
        """
        count = self._sum(self.labelled.to(places.losses.dtype))
        first = self._first()
        none = count == 0

        def mean(column: Tensor | None) -> Tensor | None:
            if column is None:
                return None
            return self._sum(column.masked_fill(~self.labelled, 0.0)) / count

        losses = mean(places.losses)
        assert losses is not None
        return replace(
            places,
            losses=losses,
            labels=places.labels[first].masked_fill(none, IGNORE),
            predicted=places.predicted[first].masked_fill(none, -1),
            wrong=mean(places.wrong),
            margins=mean(places.margins),
        )

    def spread(self, values: Tensor) -> Tensor:
        """Return for each place the value of its group, `(E,)`; 0 where it has no label."""
        return values[self.slot].masked_fill(~self.labelled, 0)

    def _sum(self, column: Tensor) -> Tensor:
        return torch.zeros_like(column).index_add(0, self.slot, column)

    def _first(self) -> Tensor:
        """Return the first labelled place of each group, `(E,)`; any place if it has none."""
        places = torch.arange(len(self.slot), device=self.slot.device)
        last = len(self.slot) - 1
        found = torch.where(self.labelled, places, last)
        return torch.full_like(places, last).scatter_reduce(0, self.slot, found, "amin")


def _check(groups: Tensor, labels: Tensor) -> None:
    if not isinstance(groups, Tensor) or groups.dtype != torch.int64:
        kind = groups.dtype if isinstance(groups, Tensor) else type(groups).__name__
        raise MentorNetError(f"groups must be a tensor of whole numbers (int64), got {kind}")
    if groups.shape != labels.shape:
        raise MentorNetError(
            f"groups must have the shape of labels {tuple(labels.shape)}, got {tuple(groups.shape)}"
        )
    if not can_look(groups):
        return
    lost = (groups < 0) & (labels != IGNORE)
    if lost.any():
        raise MentorNetError(
            f"group {int(groups[lost][0])} is that of a place with label {int(labels[lost][0])}; "
            f"only places without a label ({IGNORE}) can be in no group"
        )
    width = groups[0].numel()
    if (groups >= width).any():
        raise MentorNetError(
            f"group {int(groups.max())} is not one of the {width} that {width} places of a sample "
            f"can have; number the groups of each sample from 0"
        )
