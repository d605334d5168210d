"""From an image file to pixels: any format and mode, one size, one number of channels."""

from __future__ import annotations

import io
import math
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from mentornet.errors import MentorNetError, first_line
from mentornet.files import BoundedReads

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "Packed",
    "UnreadableImage",
    "check_shape",
    "decode",
    "opened",
    "quiet",
    "read_image",
    "take_turns",
    "upright",
]

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000", "AVIF")
"""Formats that are opened. Pillow knows others that start programs (EPS starts Ghostscript)."""

LARGE = 1 << 24
"""Images of more pixels are decoded one at a time, and made smaller in tiles."""

_MEMORY = 800 << 20  # bytes that decoding one image may take
_BYTES = {"JPEG": 4, "PNG": 4, "BMP": 4, "PPM": 4, "GIF": 8, "TIFF": 8, "JPEG2000": 20}
_OTHER_BYTES, _PROGRESSIVE = 16, 6  # bytes of memory for each pixel while it is decoded

_turn: AbstractContextManager[Any] = threading.Lock()


def take_turns(lock: AbstractContextManager[Any]) -> None:
    """Decode large images only while `lock` is held, for processes that share it."""
    global _turn  # noqa: PLW0603 - one budget for all threads of a process
    _turn = lock


class UnreadableImage(MentorNetError):  # noqa: N818 - what is wrong is the image
    """The error for an image that cannot be decoded.

    Args:
        name: the path of the image, or its place in another file.
        reason: why it cannot be decoded, in a few words.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason

    def __str__(self) -> str:
        return f"{self.name} cannot be read as an image: {self.reason}"


@dataclass(frozen=True)
class Packed:
    """An image inside another file, such as a row of a parquet file."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return self.name


def read_image(path: Path, *, size: int, channels: int) -> Tensor:
    """One image as uint8 `(C, size, size)`.

    The image is turned as its EXIF says, put on white if it is transparent, cut to the square in
    its middle, and resized with antialiasing. An image of size × size stays as it is, bit for bit.

    Args:
        path: the file.
        size: height and width of the result.
        channels: C, 1 for grey or 3 for red, green and blue.

    Raises:
        UnreadableImage: the file is missing, cut short, too large, or not an image.
    """
    check_shape(size, channels)
    with quiet():
        return decode(path, size, channels)


def decode(source: Path | Packed, size: int, channels: int) -> Tensor:
    """The same as `read_image`, for use inside `quiet` and in any thread."""
    from PIL import Image

    with opened(source) as image:
        image.draft(None, (2 * size, 2 * size))  # a large JPEG need not be decoded in full
        coloured = upright(image, "L" if channels == 1 else "RGB")
        side = min(coloured.size)
        left, top = (coloured.width - side) // 2, (coloured.height - side) // 2
        square = coloured.crop((left, top, left + side, top + side))
        pixels = np.array(square.resize((size, size), Image.Resampling.BICUBIC))
    return torch.from_numpy(pixels).view(size, size, channels).permute(2, 0, 1).contiguous()


@contextmanager
def quiet() -> Iterator[None]:
    """A context in which Pillow is ready for threads and does not warn about odd files."""
    from PIL import Image

    Image.init()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


@contextmanager
def opened(source: Path | Packed) -> Iterator[Image]:
    """Open the image and read its header. Any error inside becomes an `UnreadableImage`."""
    from PIL import Image

    Image.init()  # Pillow loads a format by itself only if it may look for any of them
    formats = [name for name in FORMATS if name in Image.OPEN]
    try:
        with _bytes_of(source) as file:
            if not file.read(1):
                raise ValueError("it is empty")
            file.seek(0)
            with Image.open(file, formats=formats) as image, _budget(image):
                yield image
    except Exception as error:  # a decoder may raise anything on bytes it does not expect
        raise UnreadableImage(str(source), _reason(str(source), error)) from error


def _bytes_of(source: Path | Packed) -> BinaryIO:
    """A file, of which no more is read at once than it has, whatever it states of its parts."""
    if isinstance(source, Packed):
        return io.BytesIO(source.content)
    return BoundedReads(source, max(1 << 24, source.stat().st_size))


def _budget(image: Image) -> AbstractContextManager[Any]:
    """Raise if decoding takes too much memory; a large image waits for its turn."""
    pixels = image.width * image.height
    if pixels <= LARGE:
        return nullcontext()
    cost = _BYTES.get(image.format or "", _OTHER_BYTES)
    cost += _PROGRESSIVE if image.info.get("progressive") else 0
    if pixels * cost > _MEMORY:
        raise ValueError(f"it has {pixels:,} pixels, too many to be decoded safely")
    return _turn


def check_shape(size: int, channels: int) -> None:
    """Raise if the size is below 1 or the number of channels is not 1 or 3."""
    if size < 1:
        raise MentorNetError(f"image_size must be at least 1 pixel, got {size}")
    if channels not in (1, 3):
        raise MentorNetError(f"channels must be 1 (grey) or 3 (colour), got {channels}")


def upright(image: Image, mode: str) -> Image:
    """The image in `mode`, L or RGB, turned as its EXIF says.

    16 bits become 8, transparent pixels become white, and of an animation the first picture is
    taken. An image of more than `LARGE` pixels is made smaller by a whole factor.
    """
    from PIL.ImageOps import exif_transpose

    depth, factor = _Depth.of(image), math.ceil((image.width * image.height / LARGE) ** 0.5)
    if factor <= 1:
        return _flat(exif_transpose(image), mode, depth)
    turned = image.getexif().get(_ORIENTATION, 1)
    small = _shrunk(image, mode, depth, factor)
    small.getexif()[_ORIENTATION] = turned
    return exif_transpose(small)


_ORIENTATION, _BITS, _PHOTOMETRIC = 0x0112, 258, 262  # tags of EXIF and TIFF


@dataclass(frozen=True)
class _Depth:
    """The values of black and white in an image of wide numbers.

    Attributes:
        white: the largest value; 0 for an image of 8 bits, which needs no scaling.
        inverted: whether it means black.
    """

    white: int = 0
    inverted: bool = False

    @classmethod
    def of(cls, image: Image) -> _Depth:
        """The depth; numbers without a known range raise `ValueError`."""
        if image.mode not in ("I", "F") and not image.mode.startswith("I;16"):
            return cls()
        if image.mode == "F" or (image.mode == "I" and image.format != "PPM"):
            raise ValueError(
                "its pixels are signed, 32-bit or real numbers, whose black and white are not "
                "known; save it with 8 or 16 bits"
            )
        tags: Any = getattr(image, "tag_v2", {})  # only TIFF has them
        bits = tags.get(_BITS, (16,))[0]
        return cls((1 << bits) - 1, inverted=tags.get(_PHOTOMETRIC) == 0)

    def in_8_bits(self, wide: np.typing.NDArray[Any]) -> np.typing.NDArray[np.uint8]:
        """Values scaled from 0 … white to 0 … 255."""
        values = (wide.astype(np.int64).clip(0, self.white) * 255 + self.white // 2) // self.white
        return (255 - values if self.inverted else values).astype(np.uint8)


def _flat(image: Image, mode: str, depth: _Depth) -> Image:
    """The image in `mode`, on white."""
    from PIL.Image import alpha_composite, fromarray, new

    if depth.white:
        return fromarray(depth.in_8_bits(np.asarray(image))).convert(mode)
    if {"A", "a"} & set(image.getbands()) or "transparency" in image.info:
        layer = image.convert("RGBA")
        image = alpha_composite(new("RGBA", layer.size, "white"), layer)
    return image.convert(mode)


def _shrunk(image: Image, mode: str, depth: _Depth, factor: int) -> Image:
    """The image in `mode`, on white and `factor` times smaller; it is copied a tile at a time."""
    from PIL.Image import new

    small = new(mode, (-(-image.width // factor), -(-image.height // factor)))
    step = 256 * factor
    for top in range(0, image.height, step):
        for left in range(0, image.width, step):
            right, bottom = min(left + step, image.width), min(top + step, image.height)
            tile = _flat(image.crop((left, top, right, bottom)), mode, depth).reduce(factor)
            small.paste(tile, (left // factor, top // factor))
    return small


def _reason(name: str, error: Exception) -> str:
    from PIL import Image, UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        if name.lower().endswith((".heic", ".heif")):
            return "HEIC is not supported; convert it to JPEG"
        return "it is not an image, or its format is not supported"
    if isinstance(error, Image.DecompressionBombError):
        return "it has too many pixels to be decoded safely"
    return first_line(error)
