"""A batch as SPADE sees it, of one process or of all that train together."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mentornet.ranks import Ranks

__all__ = ["Seen", "ranks_here"]


@dataclass(frozen=True, eq=False)
class Seen:
    """What a step knows of its samples, each `(B,)`, without gradient.

    Attributes:
        losses: ℓ; NaN marks what is no number.
        labels: the given ones.
        predicted: the most probable class; −1 where there is none.
        index: which training samples they are, if somebody says so.
        wrong: what ℓ would be on a class that is not predicted, if that is known.
    """

    losses: Tensor
    labels: Tensor
    predicted: Tensor
    index: Tensor | None = None
    wrong: Tensor | None = None

    def of_all(self, ranks: Ranks, count: int) -> Seen:
        """The samples of all processes, `count` of them, in one exchange."""
        if ranks.alone:
            return self
        names = [name for name, column in vars(self).items() if column is not None]
        columns = ranks.gather([getattr(self, name) for name in names], count)
        return Seen(**dict(zip(names, columns, strict=True)))


def ranks_here() -> Ranks:
    """The processes of this training; a compiled criterion knows of none."""
    return Ranks() if torch.compiler.is_compiling() else Ranks.here()
