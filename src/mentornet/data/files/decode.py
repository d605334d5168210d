"""From an image file to pixels: any format and mode, one size, one number of channels."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from mentornet.errors import MentorNetError

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
    "upright",
]

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000", "AVIF")
"""Formats that are opened. Pillow knows others that start programs (EPS starts Ghostscript)."""


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

    formats = [name for name in FORMATS if name in Image.OPEN]
    try:
        content = source.read_bytes() if isinstance(source, Path) else source.content
        if not content:
            raise ValueError("it is empty")
        with Image.open(io.BytesIO(content), formats=formats) as image:
            yield image
    except Exception as error:  # a decoder may raise anything on bytes it does not expect
        raise UnreadableImage(str(source), _reason(error)) from error


def check_shape(size: int, channels: int) -> None:
    """Raise if the size is below 1 or the number of channels is not 1 or 3."""
    if size < 1:
        raise MentorNetError(f"image_size must be at least 1 pixel, got {size}")
    if channels not in (1, 3):
        raise MentorNetError(f"channels must be 1 (grey) or 3 (colour), got {channels}")


def upright(image: Image, mode: str) -> Image:
    """The image in `mode`, L or RGB, turned as its EXIF says.

    16 bits become 8, transparent pixels become white, and of an animation the first picture is
    taken.
    """
    from PIL.Image import alpha_composite, fromarray, new
    from PIL.ImageOps import exif_transpose

    image = exif_transpose(image)
    if image.mode.startswith("I"):
        wide = np.asarray(image).astype(np.int64).clip(0, 65535)
        return fromarray(((wide + 128) // 257).astype(np.uint8)).convert(mode)
    if {"A", "a"} & set(image.getbands()) or "transparency" in image.info:
        layer = image.convert("RGBA")
        image = alpha_composite(new("RGBA", layer.size, "white"), layer)
    return image.convert(mode)


def _reason(error: Exception) -> str:
    from PIL import Image, UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        return "it is not an image, or its format is not supported"
    if isinstance(error, Image.DecompressionBombError):
        return "it has too many pixels to be decoded safely"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
