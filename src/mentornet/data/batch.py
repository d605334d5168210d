"""The samples of one training step."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True, eq=False)
class Batch:
    """The samples of one step.

    Where several processes share a step, these are the samples of one of them.

    Attributes:
        index: the numbers of the samples, `(B,)`.
        inputs: what the student reads of them, `(B, …)`.
        given_label: `(B,)`.
        shared: the samples of all processes in order, without inputs; None for one process.
        second: a second random view of each sample, `(B, …)`, for a method that asks for it.
    """

    index: Tensor
    inputs: Tensor
    given_label: Tensor
    shared: Batch | None = None
    second: Tensor | None = None

    @property
    def whole(self) -> Batch:
        """The samples of all processes."""
        return self if self.shared is None else self.shared

    def rows(self, part: slice) -> Batch:
        """A part of these samples, of the same whole."""
        second = None if self.second is None else self.second[part]
        return Batch(
            self.index[part], self.inputs[part], self.given_label[part], self.whole, second
        )
