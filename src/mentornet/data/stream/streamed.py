"""Images that stay in their files until a step needs them, for data that exceeds the memory."""

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
from mentornet.files import open_file

__all__ = ["SIDE", "InShards", "LooseFiles", "Place", "Streamed", "in_files", "read_place"]

SIDE = 299
"""Height and width of the images that Inception sees."""

_MOST = 1 << 28  # bytes of the largest image


class Place(NamedTuple):
    """The place of the bytes of an image.

    Attributes:
        file: the file that holds them.
        name: the name of the image for the user.
        offset: position of the first byte in the file.
        size: number of bytes; None for all of the file.
    """

    file: str
    name: str
    offset: int = 0
    size: int | None = None


def read_place(place: Place) -> Packed:
    """Read the bytes; a file that is missing or too short raises `UnreadableImage`."""
    try:
        with open_file(place.file) as file:
            size = os.fstat(file.fileno()).st_size if place.size is None else place.size
            if size > _MOST:
                raise UnreadableImage(place.name, f"it has {size:,} bytes")
            file.seek(place.offset)
            content = file.read(size)
    except OSError as error:
        raise UnreadableImage(place.name, error.strerror or str(error)) from None
    if place.size is not None and len(content) < place.size:
        raise UnreadableImage(place.name, f"{place.file} is cut short")
    return Packed(place.name, content)


class Streamed(ABC):
    """N colour images, of which only the places are held in memory: `Samples.inputs` of large data.

    A student sees a square view of each image (see `mentornet.data.stream.views`).

    Args:
        side: height and width of the views.
    """

    dtype = torch.uint8

    def __init__(self, side: int = SIDE) -> None:
        if side < 8:
            raise MentorNetError(f"image_size must be at least 8 pixels, got {side}")
        self.side = side

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(N, 3, side, side): the shape that the views of all images would have."""
        return len(self), 3, self.side, self.side

    def places(self, index: Iterable[int]) -> list[Place]:
        """The places of these images."""
        return [self.place(number) for number in index]

    @abstractmethod
    def __len__(self) -> int:
        """N."""

    @abstractmethod
    def __getitem__(self, index: Tensor | slice) -> Streamed:
        """The images at `index`; nothing is read."""

    @abstractmethod
    def place(self, number: int) -> Place:
        """The place of one image."""

    @abstractmethod
    def fingerprint(self) -> bytes:
        """A digest that changes with the images and their order, but not if the folder is moved."""


class LooseFiles(Streamed):
    """Each image in a file of its own.

    Args:
        root: the folder that the names are relative to.
        names: N paths with `/` as the separator.
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
        return Place(os.path.join(self.root, name), name)  # noqa: PTH118 - faster

    def fingerprint(self) -> bytes:
        content = hashlib.sha256(f"files {self.side}\n".encode())
        for name in self.names:
            content.update(name.encode() + b"\n")
        return content.digest()


class InShards(Streamed):
    """Images inside tar files, each found by its offset and its size.

    Args:
        root: the folder of the shards.
        shards: the file names of the shards.
        shard: the number of the shard that each image is in, `(N,)`.
        offset: position of the first byte of each image in its shard, `(N,)`.
        size: number of bytes of each image, `(N,)`.
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


def in_files(root: Path, places: Sequence[Place], side: int = SIDE) -> InShards:
    """Images that are inside of files, with the names of these relative to a folder.

    Args:
        root: the folder.
        places: the places of the images, each with its size.
        side: height and width of the views.
    """
    files = sorted({place.file for place in places})
    number = {file: place for place, file in enumerate(files)}
    names = [Path(os.path.relpath(file, root)).as_posix() for file in files]
    sizes = [place.size or 0 for place in places]
    return InShards(
        root, names, torch.tensor([number[place.file] for place in places]),
        torch.tensor([place.offset for place in places]), torch.tensor(sizes), side,
    )  # fmt: skip
