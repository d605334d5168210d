"""The batch of all processes, element by element, and what came of weighing it.

Shapes: B samples of this process, S elements of each, E elements of all processes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mentornet.distributed import EvenBatches
from mentornet.weighting.elements import Elements
from mentornet.weighting.evidence import IGNORE, Evidence, gathered, processes_here
from mentornet.weighting.groups import Groups
from mentornet.weighting.label_checks import can_look
from mentornet.weighting.loss_scale import LossScale
from mentornet.weighting.text_scale import TextScale

__all__ = ["Weighed", "WholeBatch", "whole_batch"]


@dataclass(frozen=True, eq=False)
class Weighed:
    """What came of weighing the elements of this process.

    Attributes:
        weights: v, `(B,)`, or at levels finer than a sample in the shape of the labels.
        unlabelled: what has no label, in the same shape, or None if all have one.
        numbers: the number of each element, `(E,)`, or None.
        share: our number of labels over the mean of all processes, or None if it is 1.
    """

    weights: Tensor
    unlabelled: Tensor | None
    numbers: Tensor | None
    share: Tensor | None

    def in_balance(self, loss: Tensor) -> Tensor:
        """Return a mean over our labels such that its average over processes is over all labels.

        It is 0 if only other processes have labels.
        """
        if self.share is None:
            return loss
        return torch.where(self.share > 0, loss * self.share.to(loss.dtype), 0.0)


@dataclass(frozen=True, eq=False)
class WholeBatch:
    """The evidence of the elements of all processes, sample by sample.

    Attributes:
        evidence: of all elements, `(E,)`; its `index` has the sample of each.
        width: S, the same in all processes.
        mine: where the elements of this process are.
        own_width: how many elements a sample has in this process.
    """

    evidence: Evidence
    width: int
    mine: slice
    own_width: int

    def numbered(self, elements: Elements | None) -> Evidence:
        """Return the evidence with the number of each element as `index`, if they have numbers."""
        seen, index, numbers = self.evidence, self.samples, None
        if elements is not None and index is not None:
            numbers = elements.numbers(index, self.width, seen.unlabelled)
        return replace(seen, index=numbers)

    @property
    def samples(self) -> Tensor | None:
        """The number of each sample, `(B,)`, if they have numbers."""
        index = self.evidence.index
        return None if index is None else index.view(-1, self.width)[:, 0]

    def ours(self, values: Tensor) -> Tensor:
        """Return the values `(E,)` of the elements of this process."""
        return values[self.mine].view(-1, self.width)[:, : self.own_width].flatten()

    def weighed(
        self,
        weights: Tensor,
        numbers: Tensor | None,
        groups: Groups | None,
        shape: torch.Size | None,
    ) -> Weighed:
        """Return our part of the weights.

        Args:
            weights: the weights v of all elements, `(E,)`.
            numbers: the numbers of these, or None.
            groups: what our elements were joined by, or None.
            shape: the shape for our weights; None for `(B,)`.
        """
        ours, unlabelled = self.ours(weights), self.evidence.unlabelled
        unlabelled = None if unlabelled is None else self.ours(unlabelled)
        numbers = None if numbers is None else self.ours(numbers)
        if groups is not None:
            ours, unlabelled = groups.spread(ours), ~groups.labelled
            numbers = None if numbers is None else groups.spread(numbers)
        if shape is not None:
            ours = ours.view(shape)
            unlabelled = None if unlabelled is None else unlabelled.view(shape)
        return Weighed(ours, unlabelled, numbers, self.share)

    @property
    def share(self) -> Tensor | None:
        """Our number of labels over the mean of all processes; None if it is surely 1."""
        unlabelled, world = self.evidence.unlabelled, processes_here().world
        if unlabelled is None or world == 1:
            return None
        labelled = ~unlabelled
        return labelled[self.mine].sum() * world / labelled.sum().clamp(min=1)

    def kept(
        self,
        seen: Evidence,
        weights: Tensor,
        scale: LossScale | TextScale | None,
        *,
        each: bool,
    ) -> tuple[Evidence, Tensor]:
        """Return the evidence and the weights to remember, of elements or of samples.

        Args:
            seen: the evidence that the engine has seen, `(E,)`.
            weights: the weights v, `(E,)`.
            scale: the scale of losses of which nothing else is known, for their margins.
            each: whether every element is remembered; if not, samples are.
        """
        if seen.wrong is None and scale is not None:
            seen = replace(seen, margins=scale.margins(seen.losses))
        return (seen, weights) if each else self._of_samples(seen, weights)

    def _of_samples(self, seen: Evidence, weights: Tensor) -> tuple[Evidence, Tensor]:
        """Return evidence and weights of samples, `(B,)`: means over their labelled elements.

        What has no mean, as labels have none, is unknown.
        """
        unlabelled = seen.unlabelled
        counted = torch.ones_like(weights, dtype=torch.bool) if unlabelled is None else ~unlabelled
        count = counted.view(-1, self.width).sum(1)

        def mean(column: Tensor) -> Tensor:
            total = column.masked_fill(~counted, 0.0).view(-1, self.width).sum(1)
            return total / count

        samples = Evidence(
            mean(seen.losses),
            torch.zeros_like(count),
            torch.full_like(count, -1),
            self.samples,
            margins=None if seen.margins is None else mean(seen.margins),
            unlabelled=None if unlabelled is None else count == 0,
        )
        return samples, mean(weights).nan_to_num(0.0)


def whole_batch(evidence: Evidence, width: int, even: EvenBatches, *, uneven: bool) -> WholeBatch:
    """Return the evidence of the elements of all processes.

    Args:
        evidence: of our elements, `(E,)`; its `index` has the number of each sample, `(B,)`.
        width: how many elements a sample has here.
        even: makes the exchange, and checks that batches are of equal size.
        uneven: whether processes may differ in `width`, as batches of texts are as long as their
            longest text. What is added to the shorter ones has no label.
    """
    processes, look = processes_here(), can_look(evidence.losses)
    if evidence.index is not None and width > 1:
        evidence = replace(evidence, index=evidence.index.repeat_interleave(width))
    widest = width
    if uneven and not processes.alone:
        (widths,) = processes.gather([torch.tensor([width], device=evidence.losses.device)])
        widest = int(widths.max())
        evidence = _widened(evidence, width, widest)
    evidence, mine = gathered(evidence, even, look=look)
    return WholeBatch(evidence.with_unlabelled(look=look), widest, mine, width)


def _widened(evidence: Evidence, width: int, widest: int) -> Evidence:
    fill = {"labels": IGNORE, "predicted": -1}
    columns = {}
    for name, column in vars(evidence).items():
        if column is not None:
            rows = column.view(-1, width)
            if name == "index":
                beside = rows[:, :1].expand(-1, widest - width)
            else:
                beside = rows.new_full((len(rows), widest - width), fill.get(name, torch.nan))
            columns[name] = torch.cat([rows, beside], 1).flatten()
    return replace(evidence, **columns)
