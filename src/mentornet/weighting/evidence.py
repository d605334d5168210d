"""Evidence: what a step knows of its samples, and how processes exchange it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch import distributed as dist

from mentornet.distributed import EvenBatches, Processes
from mentornet.errors import MentorNetError

__all__ = ["IGNORE", "Evidence", "gathered", "loss_on_another_class", "processes_here"]

IGNORE = -100
"""Stands in place of a label where there is none, as in torch."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a step knows of its samples; each column is `(B,)`, and nothing has a gradient.

    Attributes:
        losses: ℓ on the given label; NaN marks a loss that is not finite, or no label.
        labels: the given labels; −100 for no label, until `with_unlabelled`.
        predicted: the most probable class; −1 if it is not known.
        index: the numbers of the samples in the training set, or None.
        wrong: the loss on a random class that is not the predicted one, or None.
        margins: the logit of the given label minus the largest other logit, or None.
        unlabelled: which samples have no label, or None if all have one; see `with_unlabelled`.
        probabilities: the predicted probabilities, `(B, K)`, or None; K columns.
    """

    losses: Tensor
    labels: Tensor
    predicted: Tensor
    index: Tensor | None = None
    wrong: Tensor | None = None
    margins: Tensor | None = None
    unlabelled: Tensor | None = None
    probabilities: Tensor | None = None

    @property
    def bad(self) -> Tensor:
        """Which samples have a label but no finite loss, `(B,)`."""
        bad = self.losses.isnan()
        return bad if self.unlabelled is None else bad & ~self.unlabelled

    @property
    def columns(self) -> list[Tensor]:
        """The columns that are not None, in order."""
        single = [getattr(self, name) for name in self._single]
        return [*single, *([] if self.probabilities is None else self.probabilities.unbind(1))]

    @property
    def _single(self) -> list[str]:
        """The names of the columns that are not None, but for the probabilities."""
        held = vars(self).items()
        return [name for name, column in held if column is not None and name != "probabilities"]

    def with_unlabelled(self, *, look: bool) -> Evidence:
        """Return the evidence with label 0 in place of −100, and `unlabelled` in its stead.

        Args:
            look: whether values can be read without synchronising with a device; if not, there is
                always a column `unlabelled`.
        """
        if look and int(self.labels.amin()) >= 0:
            return self
        unlabelled = self.labels == IGNORE
        labels = self.labels.masked_fill(unlabelled, 0)
        return replace(self, labels=labels, unlabelled=unlabelled)

    def with_columns(self, columns: Sequence[Tensor]) -> Evidence:
        """Return evidence with the same columns of other samples, such as of all processes."""
        names, each = self._single, None
        if self.probabilities is not None:
            each = torch.stack(list(columns[len(names) :]), 1)
        single = dict(zip(names, columns[: len(names)], strict=True))
        return Evidence(**single, probabilities=each)


def loss_on_another_class(
    log_p: Tensor, predicted: Tensor, *, step: Tensor, first: int = 0, width: int = 1
) -> Tensor:
    """Return −log p of a class that is not the predicted one, in the shape of `predicted`.

    This is what the student's loss on a wrong label would be. The other classes take turns: from
    one sample of the batch to the next, from one element of a sample to the next, and from one
    step to the next.

    Args:
        log_p: log-probabilities, `(B, K)` or `(B, K, …)`.
        predicted: the most probable class, `(B,)` or `(B, …)`.
        step: the number of the step.
        first: the place of the first sample in the batch of all processes.
        width: S, the number of elements of a sample, which follow each other.
    """
    turn = torch.arange(predicted.numel(), device=log_p.device)
    if width > 1:
        turn = turn // width + turn % width
    turn = (turn + first + step).view_as(predicted)
    other = (predicted + 1 + turn % max(log_p.shape[1] - 1, 1)) % log_p.shape[1]
    return -log_p.gather(1, other.unsqueeze(1)).squeeze(1)


def gathered(evidence: Evidence, even: EvenBatches, *, look: bool) -> tuple[Evidence, slice]:
    """Return the evidence of all processes, by one exchange, and which of its rows are ours.

    Args:
        evidence: the evidence of our samples; every process must have as many.
        even: makes the exchange, and checks that batches are of equal size.
        look: whether values can be read without synchronising with a device.
    """
    processes = processes_here()
    if processes.alone:
        return evidence, slice(None)
    mine, _ = processes.place(len(evidence.losses))
    return evidence.with_columns(even.gather(processes, evidence.columns, look=look)), mine


def processes_here() -> Processes:
    """Return the processes of this training; if there are several, raise while compiling."""
    if not torch.compiler.is_compiling():
        return Processes.here()
    if _are_several():
        raise MentorNetError(
            "a compiled MentorLoss cannot exchange with other processes: compile the student, and "
            "call the criterion outside"
        )
    return Processes()


def _are_several() -> bool:
    """Whether several processes train together, asked in a way that can be compiled."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
