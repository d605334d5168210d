"""Samples that stay in their files until a step needs them, for data that fits in no memory."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mentornet.data.files.decode import Packed, UnreadableImage
from mentornet.errors import MentorNetError

__all__ = ["SIDE", "InShards", "LooseFiles", "Place", "Streamed", "read_place"]

SIDE = 299
"""Height and width of what Inception sees."""


class Place(NamedTuple):
    """Where the bytes of an image are.

    Attributes:
        file: that holds them.
        name: what the user calls the image.
        offset: of its first byte.
        size: how many bytes; None for all of the file.
    """

    file: str
    name: str
    offset: int = 0
    size: int | None = None


def read_place(place: Place) -> Packed:
    """The bytes there; a file that is missing or too short is an `UnreadableImage`."""
    try:
        with open(place.file, "rb") as file:  # noqa: PTH123 - called for every image of every step
            file.seek(place.offset)
            content = file.read(-1 if place.size is None else place.size)
    except OSError as error:
        raise UnreadableImage(place.name, error.strerror or str(error)) from None
    if place.size is not None and len(content) < place.size:
        raise UnreadableImage(place.name, f"{place.file} is cut short")
    return Packed(place.name, content)


class Streamed(ABC):
    """N colour images, of which only the places are held; `Samples.pixels` of large data.

    What a student sees of one is a square `view` of it (see `mentornet.data.stream.views`).

    Args:
        side: height and width of the views.
    """

    dtype = torch.uint8

    def __init__(self, side: int = SIDE) -> None:
        if side < 8:
            raise MentorNetError(f"image size must be at least 8 pixels, got {side}")
        self.side = side

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(N, 3, side, side), as if they were in memory."""
        return len(self), 3, self.side, self.side

    def places(self, index: Iterable[int]) -> list[Place]:
        """Where those images are."""
        return [self.place(number) for number in index]

    @abstractmethod
    def __len__(self) -> int:
        """N."""

    @abstractmethod
    def __getitem__(self, index: Tensor | slice) -> Streamed:
        """A part of them; nothing is read."""

    @abstractmethod
    def place(self, number: int) -> Place:
        """Where one image is."""

    @abstractmethod
    def fingerprint(self) -> bytes:
        """Changes when there are other images, or in another order; not when a folder moves."""


class LooseFiles(Streamed):
    """Each image in a file of its own.

    Args:
        root: the folder that their names start from.
        names: N paths below it, with `/`.
        side: height and width of the views.
    """

    def __init__(self, root: Path, names: Sequence[str], side: int = SIDE) -> None:
        super().__init__(side)
        self.root, self.names = f"{root}", tuple(names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: Tensor | slice) -> LooseFiles:
        numbers = torch.arange(len(self))[index].tolist()
        return LooseFiles(Path(self.root), [self.names[number] for number in numbers], self.side)

    def place(self, number: int) -> Place:
        name = self.names[number]
        return Place(os.path.join(self.root, name), name)  # noqa: PTH118 - for every image

    def fingerprint(self) -> bytes:
        content = hashlib.sha256(f"files {self.side}\n".encode())
        for name in self.names:
            content.update(name.encode() + b"\n")
        return content.digest()


class InShards(Streamed):
    """Samples inside tar files, each found by where it begins and how long it is.

    Args:
        root: the folder of the shards.
        shards: their file names.
        shard: which of them each image is in, `(N,)`.
        offset: of its first byte there, `(N,)`.
        size: in bytes, `(N,)`.
        side: height and width of the views.
    """

    def __init__(
        self,
        root: Path,
        shards: Sequence[str],
        shard: Tensor,
        offset: Tensor,
        size: Tensor,
        side: int = SIDE,
    ) -> None:
        super().__init__(side)
        self.root, self.shards = f"{root}", tuple(shards)
        self.shard, self.offset, self.size = shard.int(), offset.long(), size.long()

    def __len__(self) -> int:
        return len(self.shard)

    def __getitem__(self, index: Tensor | slice) -> InShards:
        return InShards(
            Path(self.root), self.shards, self.shard[index], self.offset[index], self.size[index],
            self.side,
        )  # fmt: skip

    def place(self, number: int) -> Place:
        shard = self.shards[int(self.shard[number])]
        offset = int(self.offset[number])
        name = f"the image at byte {offset} of {shard}"
        return Place(f"{self.root}/{shard}", name, offset, int(self.size[number]))

    def fingerprint(self) -> bytes:
        content = hashlib.sha256(f"shards {self.side} {' '.join(self.shards)}\n".encode())
        for part in (self.shard, self.offset, self.size):
            content.update(part.contiguous().numpy().data)
        return content.digest()
