"""Vectors, shifted and scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from mentornet.data.encoding.encoder import Encoded, Encoder
from mentornet.data.encoding.raw import Vectors
from mentornet.errors import MentorNetError, cut

__all__ = ["FARTHEST", "Scaling"]

FARTHEST = 100.0
"""Values farther from the mean than this many standard deviations count as this far."""


@dataclass(frozen=True)
class Scaling(Encoder):
    """Each value x_d becomes (x_d − μ_d)/σ_d.

    Attributes:
        mean: μ, the mean of the training vectors, D numbers.
        deviation: σ, their standard deviation, D numbers; 1 where all are the same.
        column: the column or array that the vectors come from, if it has a name.
    """

    name: ClassVar[str] = "scaling"
    reads: ClassVar[type[Vectors]] = Vectors
    mean: list[float]
    deviation: list[float]
    column: str | None = None

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.deviation):
            raise MentorNetError(
                f"there must be as many deviations as means, got {len(self.deviation)} for "
                f"{len(self.mean)}"
            )
        for deviation in self.deviation:
            if not deviation > 0:
                raise MentorNetError(f"deviation must be above 0, got {deviation:g}")

    @classmethod
    def fit(cls, raw: Vectors) -> tuple[Scaling, tuple[str, ...]]:
        values = raw.values.double()
        deviation = values.std(0, correction=0)
        deviation = deviation.where(deviation > 0, 1.0)
        return cls(values.mean(0).tolist(), deviation.tolist(), raw.column), ()

    @property
    def columns(self) -> tuple[str, ...]:
        return () if self.column is None else (self.column,)

    def encode(self, raw: Vectors) -> Encoded:
        width = raw.values.shape[1]
        if width != len(self.mean):
            where = "" if raw.column is None else f" in {cut(raw.column)!r}"
            raise MentorNetError(
                f"vectors must have {len(self.mean)} values, as those that were trained on, got "
                f"{width}{where}"
            )
        mean, deviation = (torch.tensor(part).double() for part in (self.mean, self.deviation))
        values = ((raw.values.double() - mean) / deviation).clamp(-FARTHEST, FARTHEST)
        return Encoded(values.float())
