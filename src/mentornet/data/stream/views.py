"""Square views of large photographs, as Inception is trained and tested on them (App. E).

A view for training is a random rectangle of the photograph, with at least a tenth of its area and
an aspect between 3:4 and 4:3. It is resized to a square and flipped at random; then brightness and
saturation are changed at random, in random order. A view for testing is the middle, 7/8 of each
side. Pixels are scaled to −1 … 1. These are the defaults of the implementation that the paper took
its student from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.data.files.decode import Packed, opened, upright
from mentornet.errors import MentorNetError

__all__ = ["COLOUR_DRAWS", "VIEW_DRAWS", "distort", "random_box", "scaled", "view"]

VIEW_DRAWS, COLOUR_DRAWS = 5, 3
"""Number of random numbers in [0, 1) for a random view, and for the change of its colours."""

_LEAST_AREA = 0.1
_ASPECTS = 3 / 4, 4 / 3  # width / height
_MIDDLE = 0.875
_ORIENTATION = 0x0112  # the EXIF tag for the orientation of the camera
_END = b"\xff\xd9"  # the last bytes of a complete JPEG
_BRIGHTER, _LEAST_COLOUR, _MOST_COLOUR = 32 / 255, 0.5, 1.5


def random_box(width: int, height: int, draws: NDArray[np.float64]) -> tuple[int, int, int, int]:
    """Left, top, width and height of a random rectangle of an image.

    The aspect a is uniform in 3/4 … 4/3. The height is uniform between the one that gives a tenth
    of the area of the image, √(0.1 · W · H / a), and the largest one that fits.

    Args:
        width: W, the width of the image.
        height: H, the height of the image.
        draws: at least 4 numbers in [0, 1).
    """
    aspect = _ASPECTS[0] + draws[0] * (_ASPECTS[1] - _ASPECTS[0])
    largest = min(height, width / aspect)
    least = min((_LEAST_AREA * width * height / aspect) ** 0.5, largest)
    tall = least + draws[1] * (largest - least)
    rows = min(max(1, round(tall)), height)
    columns = min(max(1, round(tall * aspect)), width)
    left, top = int(draws[2] * (width - columns + 1)), int(draws[3] * (height - rows + 1))
    return left, top, columns, rows


def view(source: Packed, side: int, draws: NDArray[np.float64] | None = None) -> NDArray[np.uint8]:
    """A view of one photograph, `(side, side, 3)`.

    The photograph is turned as its EXIF says, put on white if it is transparent, and resized
    bilinearly. A JPEG that is at least twice as large as needed is decoded at a smaller size.

    Args:
        source: the bytes of the photograph, in any format that is read.
        side: height and width of the result.
        draws: `VIEW_DRAWS` numbers in [0, 1) for a random view; None for the middle.
    """
    cv2 = _opencv()
    with opened(source) as image:
        turned = image.getexif().get(_ORIENTATION, 1) != 1 if "exif" in image.info else False
        plain = image.format == "JPEG" and image.mode in ("RGB", "L") and not turned
        if plain and source.content.rstrip(b"\0").endswith(_END):
            left, top, columns, rows = box = _box(*image.size, draws)
            factor = _reducible(box, side)
            pixels = _jpeg(cv2, source, factor)
            left, top, columns, rows = (number // factor for number in box)
        else:  # Pillow handles, or reports, what is rare, odd or cut short
            pixels = np.asarray(upright(image, "RGB"))
            left, top, columns, rows = _box(pixels.shape[1], pixels.shape[0], draws)
            plain = False
        square = cv2.resize(
            pixels[top : top + rows, left : left + columns], (side, side),
            interpolation=cv2.INTER_LINEAR,
        )  # fmt: skip
    if plain:
        square = cv2.cvtColor(square, cv2.COLOR_BGR2RGB)
    return cv2.flip(square, 1) if draws is not None and draws[4] < 0.5 else square


def _box(width: int, height: int, draws: NDArray[np.float64] | None) -> tuple[int, int, int, int]:
    if draws is not None:
        return random_box(width, height, draws)
    columns, rows = max(1, round(_MIDDLE * width)), max(1, round(_MIDDLE * height))
    return (width - columns) // 2, (height - rows) // 2, columns, rows


def _reducible(box: tuple[int, int, int, int], side: int) -> int:
    """The factor by which a JPEG may be decoded smaller: 1, 2, 4 or 8."""
    excess = min(box[2], box[3]) / side
    return next((factor for factor in (8, 4, 2) if excess >= factor), 1)


def _jpeg(cv2: Any, source: Packed, factor: int) -> NDArray[np.uint8]:
    """The pixels of a JPEG in the order blue, green, red, at 1/`factor` of its size."""
    flags = {
        1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4,
        8: cv2.IMREAD_REDUCED_COLOR_8,
    }  # fmt: skip
    pixels = cv2.imdecode(np.frombuffer(source.content, np.uint8), flags[factor])
    if pixels is None:
        raise ValueError("its content is not a JPEG")
    return np.asarray(pixels)


def _opencv() -> Any:
    try:
        import cv2
    except ModuleNotFoundError:
        raise MentorNetError(
            "streamed images need OpenCV: pip install 'mentornet[large]'"
        ) from None
    return cv2


def scaled(pixels: Tensor) -> Tensor:
    """Pixels in uint8, `(B, 3, H, W)`, as float32 in 0 … 1."""
    return pixels.float() / 255


def distort(images: Tensor, draws: Tensor) -> Tensor:
    """Change the brightness of each image by up to ±32/255 and its saturation by 0.5 … 1.5 times.

    Which of the two changes comes first is random. A change of saturation by the factor k keeps
    m = max(r, g, b) of a pixel and moves its other colours c to m − k (m − c). The factor is
    limited so that no colour falls below 0.

    Args:
        images: `(B, 3, H, W)` in 0 … 1.
        draws: `(B, COLOUR_DRAWS)` in [0, 1).
    """
    shift, factor, order = (column[:, None, None, None] for column in draws.to(images).unbind(1))
    shift = (2 * shift - 1) * _BRIGHTER
    factor = _LEAST_COLOUR + factor * (_MOST_COLOUR - _LEAST_COLOUR)
    first = torch.where(order < 0.5, shift, torch.zeros_like(shift))
    images = _saturated(images + first, factor) + (shift - first)
    return images.clamp(0, 1)


def _saturated(images: Tensor, factor: Tensor) -> Tensor:
    most = images.amax(1, keepdim=True)
    spread = most - images.amin(1, keepdim=True)
    limit = most.clamp(min=0) / spread.clamp(
        min=1e-6
    )  # the factor that turns the smallest colour to 0
    return most - (most - images) * torch.minimum(factor, limit.clamp(min=1))
