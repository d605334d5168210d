"""The evidence: what is known of the samples of one step, in this process or in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch import distributed as dist

from mentornet.distributed import EvenBatches, Processes
from mentornet.errors import MentorNetError
from mentornet.randomness import hashed_uniform

__all__ = ["Evidence", "gathered", "loss_on_another_class", "processes_here"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a step knows of its samples: one value a sample in every column, `(B,)`, no gradient.

    Attributes:
        losses: ℓ on the given label; NaN marks a loss that is not a number.
        labels: the given labels.
        predicted: the most probable class; −1 where there is none.
        index: the numbers of the samples in the training set, if they are known.
        wrong: the loss on a random class that is not predicted, if it is known.
        margins: by how much the given label leads the other classes, if it is known.
        unlabelled: which samples have no label at all, where that is possible; their ℓ is NaN.
    """

    losses: Tensor
    labels: Tensor
    predicted: Tensor
    index: Tensor | None = None
    wrong: Tensor | None = None
    margins: Tensor | None = None
    unlabelled: Tensor | None = None

    @property
    def bad(self) -> Tensor:
        """Which samples have a label and a loss that is not a number, `(B,)`."""
        bad = self.losses.isnan()
        return bad if self.unlabelled is None else bad & ~self.unlabelled

    @property
    def columns(self) -> list[Tensor]:
        """The columns that are known, in order."""
        return [column for column in vars(self).values() if column is not None]

    def with_columns(self, columns: Sequence[Tensor]) -> Evidence:
        """The same columns for other samples, such as those of all processes."""
        names = [name for name, column in vars(self).items() if column is not None]
        return Evidence(**dict(zip(names, columns, strict=True)))


def loss_on_another_class(
    log_p: Tensor, predicted: Tensor, *, seed: int, step: Tensor, first: int = 0
) -> Tensor:
    """−log p of a random class that is not the predicted one, `(B,)`.

    It shows what the loss of a wrong label looks like to this student.

    Args:
        log_p: log-probabilities, `(B, K)`.
        predicted: the most probable class, `(B,)`.
        seed: of the draws.
        step: the number of the step.
        first: the place of the first sample in the batch of all processes.
    """
    batch, classes = log_p.shape
    rows = torch.arange(first, first + batch, device=log_p.device)
    draws = hashed_uniform((seed + 1) % 2**63, step, rows)
    shift = 1 + (draws * (classes - 1)).long().clamp(max=max(classes - 2, 0))
    other = (predicted + shift) % classes
    return -log_p.gather(1, other[:, None])[:, 0]


def gathered(evidence: Evidence, even: EvenBatches, *, look: bool) -> tuple[Evidence, slice]:
    """The evidence of all processes, by one exchange, and which of its samples are ours.

    Args:
        evidence: of our own samples; every process has as many.
        even: checks that batches are of one size.
        look: whether looking at numbers costs nothing.
    """
    processes = processes_here()
    if processes.alone:
        return evidence, slice(None)
    mine, _ = processes.place(len(evidence.losses))
    return evidence.with_columns(even.gather(processes, evidence.columns, look=look)), mine


def processes_here() -> Processes:
    """The processes of this training; a compiled criterion cannot ask and must be the only one."""
    if not torch.compiler.is_compiling():
        return Processes.here()
    if _are_several():
        raise MentorNetError(
            "a compiled MentorLoss cannot ask the other processes: compile the student, and call "
            "the criterion outside"
        )
    return Processes()


def _are_several() -> bool:
    """Whether several processes train together, asked in a way that can be compiled."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
