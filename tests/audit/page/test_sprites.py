from __future__ import annotations

import io
import re

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mentornet import MentorNetError
from mentornet.audit.page.sprites import Sprites, pack
from tests.audit.contents import colour_of, plain_pictures


def thumbnail(sprites: Sprites, place: int) -> NDArray[np.uint8]:
    """Picture number `place`, cut out of its sheet by hand."""
    sheet = Image.open(io.BytesIO(sprites.sheets[place // sprites.per_sheet]))
    row, column = divmod(place % sprites.per_sheet, sprites.columns)
    left, top = column * sprites.cell_width, row * sprites.cell_height
    box = (left, top, left + sprites.width, top + sprites.height)
    return np.asarray(sheet.convert("RGB").crop(box))


@pytest.mark.parametrize("count", [1, 7, 300])
def test_every_picture_is_where_it_should_be(count: int) -> None:
    indices = np.arange(count)[::-1] * 3
    sprites = pack(plain_pictures(30), indices)
    assert (sprites.count, sprites.suffix, sprites.cell_width) == (count, "jpg", 32)
    for place, index in enumerate(indices.tolist()):
        found = thumbnail(sprites, place).astype(int)
        assert found.shape == (30, 30, 3)
        assert np.abs(found - colour_of(index)).max() <= 6  # to the last column: none bleeds


@pytest.mark.parametrize(("side", "channels"), [(8, 1), (8, 3), (28, 1)])
def test_drawings_are_kept_to_the_pixel(side: int, channels: int) -> None:
    drawn = np.random.default_rng(0).integers(0, 256, (9, channels, side, side), dtype=np.uint8)
    sprites = pack(lambda indices: drawn[indices], np.arange(9))
    assert sprites.suffix == "png"
    expected = np.broadcast_to(np.moveaxis(drawn, 1, -1), (9, side, side, 3))
    for place in range(9):
        assert np.array_equal(thumbnail(sprites, place), expected[place])


def test_large_pictures_shrink_in_proportion() -> None:
    def wide(indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return np.full((len(indices), 3, 150, 300), 90, np.uint8)

    sprites = pack(wide, np.arange(5))
    assert (sprites.width, sprites.height) == (128, 64)
    assert np.abs(thumbnail(sprites, 4).astype(int) - 90).max() <= 3


def noise(indices: NDArray[np.int64]) -> NDArray[np.uint8]:
    draw = np.random.default_rng(0)
    return draw.integers(0, 256, (len(indices), 3, 128, 128), dtype=np.uint8)


def test_a_smaller_budget_makes_smaller_thumbnails_then_fewer() -> None:
    indices = np.arange(600)
    roomy, tight, poor = (pack(noise, indices, budget=size) for size in (10**8, 10**6, 10**5))
    assert (roomy.width, roomy.count) == (128, 600)
    assert 32 <= tight.width < 128
    assert tight.count == 600
    assert poor.width == 32
    assert poor.count < 600
    assert poor.count == sum(1 for _ in poor.sheets) * poor.per_sheet
    for sprites, size in ((roomy, 10**8), (tight, 10**6), (poor, 10**5)):
        assert sprites.size == sum(map(len, sprites.sheets)) <= size


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (np.zeros((2, 3, 8, 8), np.float32), "got float32 of shape (2, 3, 8, 8)"),
        (np.zeros((3, 3, 8, 8), np.uint8), "uint8 of shape (2, 1 or 3, H, W)"),
        (np.zeros((2, 8, 8, 3), np.uint8), "got uint8 of shape (2, 8, 8, 3)"),
        (np.zeros((2, 3, 0, 8), np.uint8), "got uint8 of shape (2, 3, 0, 8)"),
    ],
)
def test_what_is_no_picture(made: NDArray[np.uint8], message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        pack(lambda _: made, np.arange(2))
