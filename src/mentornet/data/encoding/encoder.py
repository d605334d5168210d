"""What all encoders have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple, TypeVar

from torch import Tensor

from mentornet.data.encoding.raw import Raw
from mentornet.errors import MentorNetError
from mentornet.schema import typed

__all__ = ["Encoded", "Encoder"]

Self = TypeVar("Self", bound="Encoder")


class Encoded(NamedTuple):
    """What a student reads of N samples.

    Attributes:
        inputs: float32 vectors `(N, D)`, or ids of tokens `(N, L)`, int32, padded with 0.
        notes: lines for the user, such as how many texts were cut.
    """

    inputs: Tensor
    notes: tuple[str, ...] = ()


class Encoder(ABC):
    """Turns raw samples into the tensor that a student reads.

    An encoder is a frozen dataclass. It is fitted on the training samples, which sets its fields;
    these are plain data, so that a run can store it as JSON and apply it to new samples.
    """

    name: ClassVar[str]
    """The name of the encoder in the file."""

    reads: ClassVar[type[Raw]]
    """The kind of samples that it encodes."""

    @classmethod
    @abstractmethod
    def fit(cls: type[Self], raw: Any) -> tuple[Self, tuple[str, ...]]:
        """Return an encoder that suits these samples, and lines for the user."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns of a table that it reads."""

    @property
    def vocabulary(self) -> int:
        """The number of ids that tokens can have, 0 included; 0 if it makes vectors."""
        return 0

    def check_made(self, inputs: Tensor, channels: int) -> None:
        """Raise if the inputs are not those of a student that was made for so many channels."""
        made = self.vocabulary or inputs.shape[1]
        if made != channels:
            raise MentorNetError(
                f"the encoder {self.name!r} was fitted for another student: it makes "
                f"{made} {'ids' if self.vocabulary else 'values'}, and the student reads {channels}"
            )

    @abstractmethod
    def encode(self, raw: Any) -> Encoded:
        """Return the inputs of these samples."""

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` makes the same encoder of."""
        return {"encoder": self.name, **asdict(self)}  # type: ignore[call-overload]

    @classmethod
    def from_json(cls: type[Self], content: Mapping[str, Any], where: str) -> Self:
        """Return the encoder that a file holds; `where` names the file in messages."""
        return typed(cls, content, where)
