"""z = φ(x, y, w): the features of a sample that a mentor reads.

Shapes: B samples in the batch, T steps of history, the newest last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["PERCENT", "MentorFeatures"]

PERCENT = 100
"""Progress of training is a whole number of percent, from 0 at the start to 99 at the end."""


@dataclass(frozen=True, eq=False)
class MentorFeatures:
    """The paper's four features of every sample in a batch (§3.1, Fig. 1).

    The constructor checks shapes and dtypes, which costs nothing. `validated` also checks the
    values, which synchronises with an accelerator; inner loops do not call it.

    Attributes:
        loss: ℓ, the student's loss on the given label, `(B, T)`, newest last.
        difference: ℓ − ℓ_pt, `(B, T)`, where the loss level ℓ_pt is the moving average of the
            p-th percentile of the batch's losses.
        label: the given label, `(B,)`, integer.
        progress: progress of training in percent, `(B,)`, integer in 0–99.

    >>> z = MentorFeatures.from_loss(torch.tensor([0.5, 3.0]), loss_level=1.0)
    >>> z.difference
    tensor([[-0.5000],
            [ 2.0000]])
    """

    loss: Tensor
    difference: Tensor
    label: Tensor
    progress: Tensor

    def __post_init__(self) -> None:
        if self.loss.ndim != 2:
            raise MentorNetError(
                f"loss must have shape (B, T), got {tuple(self.loss.shape)}; "
                "for one loss per sample use MentorFeatures.from_loss"
            )
        if self.loss.shape[1] == 0:
            raise MentorNetError("loss must have at least one step of history, got T = 0")
        if self.difference.shape != self.loss.shape:
            raise MentorNetError(
                f"difference must have the shape of loss {tuple(self.loss.shape)}, "
                f"got {tuple(self.difference.shape)}"
            )
        for name, column in (("label", self.label), ("progress", self.progress)):
            if column.shape != self.loss.shape[:1]:
                raise MentorNetError(
                    f"{name} must have shape (B,) = {tuple(self.loss.shape[:1])}, "
                    f"got {tuple(column.shape)}"
                )
            if column.is_floating_point() or column.is_complex() or column.dtype == torch.bool:
                raise MentorNetError(f"{name} must be of an integer dtype, got {column.dtype}")
        if not self.loss.is_floating_point() or self.difference.dtype != self.loss.dtype:
            raise MentorNetError(
                "loss and difference must be of one floating point dtype, "
                f"got {self.loss.dtype} and {self.difference.dtype}"
            )

    @classmethod
    def from_loss(
        cls,
        loss: Tensor,
        *,
        loss_level: Tensor | float = 0.0,
        label: Tensor | int = 0,
        progress: Tensor | int = 0,
    ) -> MentorFeatures:
        """Return the features of samples with these losses; scalars apply to every sample.

        Args:
            loss: ℓ, `(B,)` or `(B, T)`.
            loss_level: ℓ_pt, a scalar, `(B,)`, or the shape of `loss`.
            label: the given label, a scalar or `(B,)`.
            progress: progress in percent, a scalar or `(B,)`.
        """
        if not isinstance(loss, Tensor):
            raise MentorNetError(f"loss must be a tensor, got {type(loss).__name__}")
        if loss.ndim not in (1, 2):
            raise MentorNetError(f"loss must have shape (B,) or (B, T), got {tuple(loss.shape)}")
        loss = loss if loss.ndim == 2 else loss[:, None]
        level = torch.as_tensor(loss_level, dtype=loss.dtype, device=loss.device)
        level = level[:, None] if level.ndim == 1 else level
        if level.ndim and level.shape not in (loss.shape, loss[:, :1].shape):
            raise MentorNetError(
                f"loss_level must be a scalar or have the shape of loss {tuple(loss.shape)}, "
                f"got {tuple(level.shape)}"
            )
        return cls(loss, loss - level, _column(label, loss), _column(progress, loss))

    @property
    def batch_size(self) -> int:
        """B, the number of samples."""
        return self.loss.shape[0]

    @property
    def history(self) -> int:
        """T, the number of losses of each sample."""
        return self.loss.shape[1]

    @property
    def current_loss(self) -> Tensor:
        """The newest ℓ, `(B,)`."""
        return self.loss[:, -1]

    @property
    def current_difference(self) -> Tensor:
        """The newest ℓ − ℓ_pt, `(B,)`."""
        return self.difference[:, -1]

    @property
    def loss_level(self) -> Tensor:
        """The newest ℓ_pt, `(B,)`."""
        return self.current_loss - self.current_difference

    def at_loss(self, loss: Tensor) -> MentorFeatures:
        """Return the same samples with `loss`, `(B,)`, in place of their newest loss."""
        now = loss[:, None]
        return replace(
            self,
            loss=torch.cat([self.loss[:, :-1], now], dim=1),
            difference=torch.cat([self.difference[:, :-1], now - self.loss_level[:, None]], dim=1),
        )

    def newest(self, steps: int) -> MentorFeatures:
        """Return the same samples with only the last `steps` steps of their history."""
        if steps >= self.history:
            return self
        return replace(self, loss=self.loss[:, -steps:], difference=self.difference[:, -steps:])

    def rows(self, index: Tensor | slice) -> MentorFeatures:
        """Return the samples at `index`."""
        return MentorFeatures(*(column[index] for column in self._columns()))

    def repeat(self, times: int) -> MentorFeatures:
        """Repeat every sample `times` times: row i becomes rows i·times … (i+1)·times−1."""
        return MentorFeatures(*(column.repeat_interleave(times, 0) for column in self._columns()))

    def joined(self, other: MentorFeatures) -> MentorFeatures:
        """Return these samples, followed by those of `other`."""
        pairs = zip(self._columns(), other._columns(), strict=True)
        return MentorFeatures(*(torch.cat(pair) for pair in pairs))

    def validated(self, num_classes: int | None = None) -> MentorFeatures:
        """Return these features, or raise an error that names the first invalid value."""
        for name, column in (("loss", self.loss), ("difference", self.difference)):
            bad = ~torch.isfinite(column)
            if bad.any():
                raise MentorNetError(
                    f"{name} must be finite, got {_first(column, bad)}; "
                    "did the student diverge, or is a target out of range?"
                )
        negative = self.loss < 0
        if negative.any():
            raise MentorNetError(
                f"loss must be ≥ 0, got {_first(self.loss, negative)}; "
                "a mentor reads unreduced cross-entropy or another non-negative loss"
            )
        _check_range(
            "progress", self.progress, PERCENT, "progress is a percentage, 0 first and 99 last"
        )
        if num_classes is not None:
            _check_range(
                "label", self.label, num_classes, f"the mentor knows {num_classes} classes"
            )
        return self

    def _columns(self) -> Iterator[Tensor]:
        return (getattr(self, field.name) for field in fields(self))


def _column(value: Tensor | int, like: Tensor) -> Tensor:
    column = torch.as_tensor(value, device=like.device)
    return column.expand(like.shape[0]) if column.ndim == 0 else column


def _first(values: Tensor, bad: Tensor) -> str:
    where = bad.nonzero()[0].tolist()
    return f"{values[tuple(where)].item():g} for sample {where[0]} of the batch"


def _check_range(name: str, column: Tensor, end: int, why: str) -> None:
    bad = (column < 0) | (column >= end)
    if bad.any():
        raise MentorNetError(f"{name} must be in 0–{end - 1}, got {_first(column, bad)}; {why}")
