"""What one step of training sees."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True, eq=False)
class Batch:
    """One step's samples: which they are `(B,)`, their inputs `(B, …)`, given labels.

    Where several processes share a step, these are one's own, and `whole` are the samples of all of
    them in order, with no inputs.
    """

    index: Tensor
    inputs: Tensor
    given_label: Tensor
    shared: Batch | None = None

    @property
    def whole(self) -> Batch:
        """The samples of all processes."""
        return self if self.shared is None else self.shared
