"""What a student sees of a photograph."""

from __future__ import annotations

import colorsys
import io
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from mentornet import MentorNetError
from mentornet.data import UnreadableImage
from mentornet.data.files.decode import Packed
from mentornet.data.stream.fetching import Fetcher, Wanted
from mentornet.data.stream.streamed import InShards, LooseFiles, Place, read_place
from mentornet.data.stream.views import COLOUR_DRAWS, VIEW_DRAWS, distort, random_box, scaled, view
from mentornet.randomness import generator
from tests.data.image_files import huge_png, png, random_pixels
from tests.data.layouts import jpeg, put
from tests.processes import start

GENTLE = np.array([0.5, 1.0, 0.0, 0.0, 0.9])  # the largest box of aspect 1.04, not flipped


def saved(
    pixels: np.ndarray, kind: str = "JPEG", mode: str | None = None, **options: object
) -> Packed:
    content = io.BytesIO()
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(content, kind, **options)
    return Packed("x", content.getvalue())


def halves(width: int = 80, height: int = 60) -> np.ndarray:
    """Left half red, right half blue."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 2, 0] = pixels[:, width // 2 :, 2] = 255
    return pixels


def test_the_middle_is_seven_eighths_of_each_side() -> None:
    pixels = random_pixels(80, 80, 3)
    assert np.array_equal(view(saved(pixels, "PNG"), 70), pixels[5:75, 5:75])


def test_boxes_stay_inside_and_have_a_tenth_of_the_area() -> None:
    draws = np.random.default_rng(0).random((2000, VIEW_DRAWS))
    for width, height in ((500, 375), (60, 300), (1, 1), (3, 1000), (299, 299)):
        for row in draws:
            left, top, columns, rows = random_box(width, height, row)
            assert 0 <= left <= width - columns
            assert 0 <= top <= height - rows
            if min(width, height) > 200:
                assert 0.099 < columns * rows / (width * height) <= 1
                assert 0.74 < columns / rows < 1.35


def test_a_flip_turns_left_to_right() -> None:
    plain = view(saved(halves()), 32, GENTLE)
    flipped = view(saved(halves()), 32, np.array([*GENTLE[:4], 0.1]))
    assert np.array_equal(plain[:, ::-1], flipped)
    assert plain[:, 0, 0].mean() > 200 > plain[:, 0, 2].mean()


def test_fast_and_careful_ways_agree() -> None:
    """A plain JPEG goes through OpenCV, one without an end through Pillow."""
    smooth = np.linspace(0, 255, 120 * 90 * 3).reshape(90, 120, 3).astype(np.uint8)
    packed = saved(smooth, quality=95)
    careful = saved(smooth, "PNG")
    one, other = view(packed, 64, GENTLE), view(careful, 64, GENTLE)
    assert np.abs(one.astype(int) - other).mean() < 3
    large = saved(np.kron(smooth, np.ones((8, 8, 1), np.uint8)), quality=95)
    assert np.abs(view(large, 64).astype(int) - view(careful, 64)).mean() < 3


def test_odd_photographs() -> None:
    red = np.zeros((40, 40, 3), np.uint8)
    red[..., 0] = 250
    for packed in (
        saved(red, mode="CMYK", quality=95),
        saved(red, "PNG", mode="RGBA"),
        saved(red, "GIF"),
        saved(red, "TIFF"),
        saved(red, "WEBP", quality=95),
    ):
        assert np.abs(view(packed, 16).mean((0, 1)) - [250, 0, 0]).max() < 12
    deep = Packed("x", png(random_pixels(20, 20)))
    assert view(deep, 16).shape == (16, 16, 3)
    wide = io.BytesIO()
    Image.fromarray(np.full((20, 20), 65535, np.uint16)).save(wide, "PNG")
    assert (view(Packed("x", wide.getvalue()), 16) == 255).all()
    moving = io.BytesIO()
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("blue", "red")]
    frames[0].save(moving, "GIF", save_all=True, append_images=frames[1:])
    assert view(Packed("x", moving.getvalue()), 16)[0, 0].tolist() == [0, 0, 255]


def test_exif_turns_a_photograph() -> None:
    content = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: turn it by a quarter
    Image.fromarray(halves()).save(content, "JPEG", quality=95, exif=exif)
    turned = view(Packed("x", content.getvalue()), 32)
    assert turned[2, :, 0].mean() > 200  # red on top
    assert turned[-3, :, 2].mean() > 200  # blue below


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"GIF89a nonsense", "it is not an image, or its format"),
        (jpeg(0, 0)[:300], "Truncated File Read"),
        (jpeg(0, 0)[:-200], "truncated"),
        (huge_png(30_000), "too many pixels"),
        (b"<svg/>", "not an image"),
    ],
)
def test_what_cannot_be_seen(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableImage, match=reason):
        view(Packed("photo.jpg", content), 32)


def test_colours_move_as_on_the_colour_wheel() -> None:
    images = torch.rand(4, 3, 5, 5, generator=generator(1)) * 0.6 + 0.2
    draws = torch.tensor([[0.5, 0.1, 0.7], [0.5, 0.9, 0.1], [0.9, 0.5, 0.7], [0.2, 0.5, 0.1]])
    found = distort(images, draws)
    for place, factor in ((0, 0.6), (1, 1.4)):  # no change of brightness
        for pixel, moved in zip(
            images[place].flatten(1).T.tolist(), found[place].flatten(1).T.tolist(), strict=True
        ):
            hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
            wanted = colorsys.hsv_to_rgb(hue, min(1, saturation * factor), value)
            assert moved == pytest.approx(wanted, abs=1e-5)
    for place, draw in ((2, 0.9), (3, 0.2)):  # no change of saturation
        shift = (2 * draw - 1) * 32 / 255
        assert torch.allclose(found[place], (images[place] + shift).clamp(0, 1), atol=1e-6)
    random = distort(images, torch.rand(4, COLOUR_DRAWS, generator=generator(2)))
    assert 0 <= random.min() < random.max() <= 1


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_change_nothing(tmp_path: Path, workers: int) -> None:
    names = [put(tmp_path / f"{n}.jpg", jpeg(0, n)).name for n in range(9)]
    files = LooseFiles(tmp_path, names, 32)
    draws = torch.rand(9, VIEW_DRAWS, generator=generator(3), dtype=torch.float64)
    wanted = [
        Wanted(files.places(part.tolist()), 32, draws[part]) for part in torch.arange(9).split(2)
    ]
    fetcher = Fetcher(workers)
    for _ in range(2):  # workers stay for the next epoch
        found = list(fetcher.fetch(wanted))
        assert [len(part) for part in found] == [2, 2, 2, 2, 1]
        for place, pixels in enumerate(torch.cat(found)):
            packed = read_place(files.place(place))
            alone = view(packed, 32, draws[place].numpy())
            assert np.array_equal(pixels.permute(1, 2, 0).numpy(), alone)
    assert scaled(found[0]).max() <= 1


@pytest.mark.parametrize("workers", [0, 1])
def test_bad_images_are_named_or_grey(tmp_path: Path, workers: int) -> None:
    put(tmp_path / "good.jpg", jpeg(0, 0))
    put(tmp_path / "bad.jpg", jpeg(0, 0)[:200])
    files = LooseFiles(tmp_path, ["good.jpg", "bad.jpg", "gone.jpg"], 16)
    wanted = [Wanted(files.places(range(3)), 16)]
    with pytest.raises(
        UnreadableImage, match=r"bad\.jpg cannot be read .* set skip_bad to use a grey one"
    ):
        list(Fetcher(workers).fetch(wanted))
    fetcher = Fetcher(workers, skip_bad=True)
    (pixels,) = fetcher.fetch(wanted)
    assert (pixels[1:] == 127).all()
    assert set(fetcher.bad) == {"bad.jpg", "gone.jpg"}
    assert fetcher.bad["gone.jpg"] == "No such file or directory"


def test_a_shard_that_is_cut_short(tmp_path: Path) -> None:
    put(tmp_path / "a.tar", b"12345")
    shards = InShards(tmp_path, ["a.tar"], torch.tensor([0]), torch.tensor([3]), torch.tensor([9]))
    with pytest.raises(UnreadableImage, match=r"byte 3 of a\.tar .* is cut short"):
        read_place(shards.place(0))
    assert read_place(Place(f"{tmp_path / 'a.tar'}", "x", 1, 3)).content == b"234"


def test_a_worker_that_dies_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "a.jpg", jpeg(0, 0))
    files = LooseFiles(tmp_path, ["a.jpg"], 16)
    monkeypatch.setattr("mentornet.data.stream.fetching.view", lambda *_: os._exit(9))
    with pytest.raises(MentorNetError, match="a process that decodes images has died"):
        list(Fetcher(1).fetch([Wanted(files.places([0]), 16)]))


def test_the_first_image_of_a_process_may_have_any_format(tmp_path: Path) -> None:
    rare = saved(halves(), "WEBP")
    assert start(view, rare, 16, log=tmp_path / "log").end() == (0, "")
