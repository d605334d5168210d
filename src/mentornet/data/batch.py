"""The samples of one training step."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True, eq=False)
class Batch:
    """The samples of one step: their index `(B,)`, inputs `(B, …)` and given labels `(B,)`.

    If several processes share a step, a batch holds the samples of one process, and `whole` holds
    the samples of all processes in order, with no inputs.
    """

    index: Tensor
    inputs: Tensor
    given_label: Tensor
    shared: Batch | None = None

    @property
    def whole(self) -> Batch:
        """The samples of all processes."""
        return self if self.shared is None else self.shared
