"""Pack thumbnails into sprite sheets: files of some hundred pictures, small enough to mail.

Every cell of a sheet starts at a multiple of 8 pixels and is padded with the picture's own border,
and colours have full resolution, so JPEG never mixes two pictures. Small drawings, such as digits
of 8 × 8 pixels, are stored exactly, as PNG, and the page enlarges them.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mentornet.audit.page.contents import Pictures
from mentornet.errors import MentorNetError

__all__ = ["BUDGET", "SIDES", "Sprites", "pack"]

BUDGET = 32_000_000
"""The most bytes of all sheets together; a page with its data then stays below 60 MB."""

SIDES = (128, 96, 64, 48, 32)
"""The longer side of a thumbnail: the first value with which all pictures fit the budget."""

SHEET = 512
"""The approximate side of a sheet; one sheet takes a megabyte of the browser's memory."""

EXACT = 16
"""Pictures up to this side are stored exactly, and grey ones up to twice this side."""

BLOCK = 8
QUALITY = 80


@dataclass(frozen=True)
class Layout:
    """How the pictures of a sheet are laid out; if `exact`, every pixel stays as it is.

    Attributes:
        width: the width of a thumbnail in pixels.
        height: its height.
        exact: whether sheets are PNG files with the pictures as they are, not JPEG files.
    """

    width: int
    height: int
    exact: bool

    @property
    def suffix(self) -> str:
        """The suffix of the files."""
        return "png" if self.exact else "jpg"

    @property
    def cell_width(self) -> int:
        """The distance from one thumbnail to the next."""
        return -(-self.width // BLOCK) * BLOCK

    @property
    def cell_height(self) -> int:
        """The distance from one row to the next."""
        return -(-self.height // BLOCK) * BLOCK

    @property
    def columns(self) -> int:
        """The number of thumbnails in a row."""
        return max(1, SHEET // self.cell_width)

    @property
    def per_sheet(self) -> int:
        """The number of thumbnails on a sheet; the last sheet may have fewer."""
        return self.columns * max(1, SHEET // self.cell_height)


@dataclass(frozen=True)
class Sprites(Layout):
    """Pictures 0 … count−1 on sheets, each sheet filled row by row.

    Attributes:
        sheets: the contents of the files.
        count: the number of thumbnails that fit in the budget.
    """

    sheets: tuple[bytes, ...]
    count: int

    @property
    def size(self) -> int:
        """The number of bytes of all sheets."""
        return sum(len(sheet) for sheet in self.sheets)


def pack(pictures: Pictures, indices: NDArray[np.int64], *, budget: int = BUDGET) -> Sprites:
    """Pack the pictures of `indices` into sheets, in that order, up to `budget` bytes.

    Thumbnails are as large as the budget allows, but never larger than the pictures. If even the
    smallest do not fit, the last samples of `indices` have none.
    """
    first = _read(pictures, indices[:64])
    for side in SIDES:
        layout = _layout(first.shape[1:], side)
        guess = len(_sheet(first, layout)) / max(len(first), 1) * len(indices)
        if guess <= 0.9 * budget:
            break
    sheets: list[bytes] = []
    room, count = budget, 0
    for start in range(0, len(indices), layout.per_sheet):
        pixels = _read(pictures, indices[start : start + layout.per_sheet])
        if pixels.shape[1:] != first.shape[1:]:
            raise MentorNetError(
                f"all pictures must have the same shape (C, H, W): got {first.shape[1:]}, "
                f"then {pixels.shape[1:]}"
            )
        sheet = _sheet(pixels, layout)
        if len(sheet) > room:
            break
        sheets.append(sheet)
        room -= len(sheet)
        count += len(pixels)
    return Sprites(layout.width, layout.height, layout.exact, tuple(sheets), count)


def _layout(shape: tuple[int, ...], side: int) -> Layout:
    """Return the layout of pictures of the shape (C, H, W), with thumbnails of that side."""
    channels, height, width = shape
    longest = max(height, width)
    if longest <= EXACT * (2 if channels == 1 else 1):
        return Layout(width, height, exact=True)
    scale = min(1.0, side / longest)
    return Layout(max(1, round(width * scale)), max(1, round(height * scale)), exact=False)


def _read(pictures: Pictures, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Read the pictures of `indices`; raise if their type or shape is wrong."""
    pixels = np.asarray(pictures(indices))
    good = pixels.ndim == 4 and pixels.dtype == np.uint8 and pixels.shape[1] in (1, 3)
    if not good or len(pixels) != len(indices) or 0 in pixels.shape[2:]:
        raise MentorNetError(
            f"pictures must be uint8 of shape ({len(indices)}, 1 or 3, H, W), "
            f"got {pixels.dtype} of shape {pixels.shape}"
        )
    return pixels


def _sheet(pixels: NDArray[np.uint8], layout: Layout) -> bytes:
    """Return the contents of a file with the pictures `(n, C, H, W)`."""
    from PIL import Image

    tiles = _thumbnails(np.moveaxis(pixels, 1, -1), layout)
    count, _, _, channels = tiles.shape
    rows = max(1, -(-count // layout.columns))
    room = ((0, layout.cell_height - layout.height), (0, layout.cell_width - layout.width))
    tiles = np.pad(tiles, ((0, 0), *room, (0, 0)), mode="edge")
    empty = rows * layout.columns - count
    tiles = np.pad(tiles, ((0, empty), (0, 0), (0, 0), (0, 0)))
    grid = tiles.reshape(rows, layout.columns, layout.cell_height, layout.cell_width, channels)
    sheet = grid.swapaxes(1, 2).reshape(
        rows * layout.cell_height, layout.columns * layout.cell_width, channels
    )
    image = Image.fromarray(sheet[..., 0] if channels == 1 else sheet)
    buffer = io.BytesIO()
    if layout.exact:
        image.save(buffer, "PNG", optimize=True)
    else:
        image.save(buffer, "JPEG", quality=QUALITY, subsampling="4:4:4")
    return buffer.getvalue()


def _thumbnails(pixels: NDArray[np.uint8], layout: Layout) -> NDArray[np.uint8]:
    """Resize the pictures `(n, H, W, C)` to the size of the layout."""
    from PIL import Image

    if pixels.shape[1:3] == (layout.height, layout.width):
        return pixels
    small = np.empty((len(pixels), layout.height, layout.width, pixels.shape[-1]), np.uint8)
    for place, picture in enumerate(pixels):
        grey = picture.shape[-1] == 1
        image = Image.fromarray(np.ascontiguousarray(picture[..., 0] if grey else picture))
        resized = image.resize(
            (layout.width, layout.height), Image.Resampling.LANCZOS, reducing_gap=3
        )
        small[place] = np.asarray(resized).reshape(small.shape[1:])
    return small
