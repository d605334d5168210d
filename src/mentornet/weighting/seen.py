"""A batch as SPADE sees it, of one process or of all that train together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mentornet.distributed import Processes
from mentornet.errors import MentorNetError

__all__ = ["Seen", "processes_here"]


@dataclass(frozen=True, eq=False)
class Seen:
    """What a step knows of its samples, each `(B,)`, without gradient.

    Attributes:
        losses: ℓ; NaN marks what is no number.
        labels: the given ones.
        predicted: the most probable class; −1 where there is none.
        index: which training samples they are, if somebody says so.
        wrong: what ℓ would be on a class that is not predicted, if that is known.
        margins: by how much the given label leads the others, if that is known.
        unlabelled: which have no label at all, where that can be; their ℓ is NaN too.
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
        """Which have a label, and yet no loss that is a number, `(B,)`."""
        bad = self.losses.isnan()
        return bad if self.unlabelled is None else bad & ~self.unlabelled

    @property
    def columns(self) -> list[Tensor]:
        """What there is of these, in order."""
        return [column for column in vars(self).values() if column is not None]

    def with_columns(self, columns: Sequence[Tensor]) -> Seen:
        """The same of other samples, such as those of all processes."""
        names = [name for name, column in vars(self).items() if column is not None]
        return Seen(**dict(zip(names, columns, strict=True)))


def processes_here() -> Processes:
    """The processes of this training; a compiled criterion knows of none, so there must be none."""
    if not torch.compiler.is_compiling():
        return Processes.here()
    if _are_several():
        raise MentorNetError(
            "a compiled MentorLoss cannot ask the other processes: compile the student, and call "
            "the criterion outside"
        )
    return Processes()


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _are_several() -> bool:
    return not Processes.here().alone
