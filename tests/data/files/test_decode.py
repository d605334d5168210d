from __future__ import annotations

import io
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from mentornet import MentorNetError
from mentornet.data import UnreadableImage, read_image, read_images
from mentornet.data.files import decode
from mentornet.data.files.reading import survey
from mentornet.data.stream.streamed import Place, read_place
from tests.data.image_files import huge_png, png, random_pixels, write_png


@pytest.mark.parametrize("shape", [(32, 32, 3), (28, 28)])
def test_an_image_of_the_right_size_comes_back_bit_for_bit(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    pixels = write_png(tmp_path / "a.png", *shape)
    channels = 3 if len(shape) == 3 else 1
    read = read_image(tmp_path / "a.png", size=shape[0], channels=channels)
    assert read.shape == (channels, *shape[:2])
    assert read.is_contiguous()
    for channel in range(channels):
        expected = pixels[..., channel] if channels == 3 else pixels
        assert np.array_equal(read[channel].numpy(), expected)


def one_colour(mode: str, colour: Any, **save: Any) -> tuple[Image.Image, dict[str, Any]]:
    return Image.new(mode, (8, 8), colour), save


def palette() -> Image.Image:
    image = Image.new("P", (8, 8), 1)
    image.putpalette([0, 0, 0, 10, 200, 30])
    return image


# An image, how it is saved, and the red, green and blue that must come out.
MODES: dict[str, tuple[Image.Image, dict[str, Any], tuple[int, int, int]]] = {
    "RGB": (*one_colour("RGB", (1, 2, 3)), (1, 2, 3)),
    "L": (*one_colour("L", 77), (77, 77, 77)),
    "1": (*one_colour("1", 1), (255, 255, 255)),
    "RGBA, opaque": (*one_colour("RGBA", (1, 2, 3, 255)), (1, 2, 3)),
    "RGBA, clear": (*one_colour("RGBA", (1, 2, 3, 0)), (255, 255, 255)),
    "RGBA, one fifth": (*one_colour("RGBA", (0, 100, 200, 51)), (204, 224, 244)),
    "LA, clear": (*one_colour("LA", (9, 0)), (255, 255, 255)),
    "palette": (palette(), {}, (10, 200, 30)),
    "palette, clear": (palette(), {"transparency": 1}, (255, 255, 255)),
    "palette, alphas": (palette(), {"transparency": b"\xff\x00"}, (255, 255, 255)),
    "colour key": (*one_colour("RGB", (1, 2, 3), transparency=(1, 2, 3)), (255, 255, 255)),
    "16 bits": (Image.fromarray(np.full((8, 8), 257 * 90, np.uint16)), {}, (90, 90, 90)),
    "16 bits, between": (Image.fromarray(np.full((8, 8), 60_000, np.uint16)), {}, (233,) * 3),
    "16 bits, white": (Image.fromarray(np.full((8, 8), 65535, np.uint16)), {}, (255, 255, 255)),
    "CMYK": (*one_colour("CMYK", (255, 0, 0, 0)), (0, 255, 255)),
}


@pytest.mark.parametrize("name", MODES)
def test_every_mode_becomes_colour_and_grey(name: str, tmp_path: Path) -> None:
    image, save, expected = MODES[name]
    path = tmp_path / ("a.tiff" if image.mode == "CMYK" else "a.png")
    image.save(path, **save)
    colour = read_image(path, size=8, channels=3)
    assert colour.permute(1, 2, 0).reshape(-1, 3).unique(dim=0).tolist() == [list(expected)]
    red, green, blue = expected
    grey = read_image(path, size=8, channels=1)
    assert grey.shape == (1, 8, 8)
    assert grey.float().mean() == pytest.approx(0.299 * red + 0.587 * green + 0.114 * blue, abs=1)


WIDE: dict[str, tuple[np.typing.NDArray[Any], dict[int, Any], int | None]] = {
    "16 bits": (np.full((8, 8), 257 * 90, np.uint16), {}, 90),
    "white is zero": (np.full((8, 8), 257 * 90, np.uint16), {262: 0}, 165),
    "signed 16 bits": (np.full((8, 8), 90, np.int32), {258: 16, 339: 2}, None),
    "32 bits": (np.full((8, 8), 1 << 30, np.int32), {}, None),
    "real numbers": (np.full((8, 8), 0.5, np.float32), {}, None),
}


@pytest.mark.parametrize("name", WIDE)
def test_wide_numbers_are_scaled_if_their_range_is_known(name: str, tmp_path: Path) -> None:
    pixels, tags, expected = WIDE[name]
    Image.fromarray(pixels).save(tmp_path / "a.tif", tiffinfo=tags)
    if expected is None:
        with pytest.raises(UnreadableImage, match="save it with 8 or 16 bits"):
            read_image(tmp_path / "a.tif", size=8, channels=3)
    else:
        assert read_image(tmp_path / "a.tif", size=8, channels=3).unique().tolist() == [expected]


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L", "16 bits"])
def test_large_images_are_made_smaller_in_tiles(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "LARGE", 32 * 32)  # so that 64 × 96 is made 3 times smaller
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    ramp = np.repeat(np.linspace(0, 255, 96)[None], 64, 0)
    if mode == "16 bits":
        image = Image.fromarray((ramp * 257).astype(np.uint16))
    else:
        image = Image.fromarray(ramp.astype(np.uint8)).convert(mode)
    image.save(tmp_path / "a.png", exif=exif)
    read = read_image(tmp_path / "a.png", size=8, channels=1)[0].float()
    expected = ramp[0, 16:80].reshape(8, 8).mean(1)[::-1]
    assert (read - torch.from_numpy(expected.copy())).abs().max() < 6


@pytest.mark.parametrize(("kind", "pixels"), [("png", 64), ("webp", 16), ("jpg", 64)])
def test_what_takes_too_much_memory_is_refused(
    kind: str, pixels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "LARGE", 10)
    monkeypatch.setattr(decode, "_MEMORY", 64 * 4)  # 4 bytes a pixel, and 16 in WebP
    for width in (pixels // 8, pixels // 8 + 1):
        Image.new("RGB", (width, 8)).save(tmp_path / f"a.{kind}", lossless=True)
        if width * 8 <= pixels:
            read_image(tmp_path / f"a.{kind}", size=8, channels=3)
            continue
        with pytest.raises(UnreadableImage, match=f"{width * 8} pixels, too many"):
            read_image(tmp_path / f"a.{kind}", size=8, channels=3)
    Image.new("RGB", (8, 4)).save(tmp_path / "b.jpg", progressive=True)
    with pytest.raises(UnreadableImage, match="32 pixels, too many"):
        read_image(tmp_path / "b.jpg", size=8, channels=3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    (tmp_path / "b.png").symlink_to("/dev/zero")
    for name in ("a.png", "b.png"):
        with pytest.raises(UnreadableImage, match="it is not a regular file"):
            read_image(tmp_path / name, size=8, channels=3)
        with pytest.raises(UnreadableImage, match="it is not a regular file"):
            read_place(Place(str(tmp_path / name), name))


@pytest.mark.parametrize(("orientation", "turns"), [(1, 0), (3, 2), (6, 3), (8, 1)])
def test_exif_says_which_side_is_up(orientation: int, turns: int, tmp_path: Path) -> None:
    pixels = random_pixels(8, 8, 3)
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=exif)
    read = read_image(tmp_path / "a.png", size=8, channels=3)
    expected = np.rot90(pixels, turns)  # counted against the clock
    assert np.array_equal(read.permute(1, 2, 0).numpy(), expected)


@pytest.mark.parametrize("shape", [(40, 100), (100, 40), (40, 41)])
def test_the_square_in_the_middle_is_what_counts(shape: tuple[int, int], tmp_path: Path) -> None:
    pixels = np.zeros(shape, np.uint8)
    height, width = shape
    top, left = (height - 40) // 2, (width - 40) // 2
    pixels[top : top + 40, left : left + 40] = 200
    (tmp_path / "a.png").write_bytes(png(pixels))
    for size in (8, 40, 64):
        assert (read_image(tmp_path / "a.png", size=size, channels=1) == 200).all()


@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_shrinking_averages_and_does_not_pick(kind: str, tmp_path: Path) -> None:
    board = (np.indices((256, 256)).sum(0) % 2 * 255).astype(np.uint8)
    Image.fromarray(board).save(tmp_path / f"a.{kind}", quality=95)
    small = read_image(tmp_path / f"a.{kind}", size=16, channels=1).float()
    assert ((small - 127.5).abs() < 8).all()


def test_a_large_jpeg_looks_the_same_when_decoded_in_part(tmp_path: Path) -> None:
    ramp = np.linspace(0, 255, 512).astype(np.uint8)
    Image.fromarray(np.tile(ramp, (512, 1))).save(tmp_path / "a.jpg", quality=95)
    read = read_image(tmp_path / "a.jpg", size=8, channels=1)[0, 4].float()
    expected = torch.from_numpy(ramp.astype(np.float32)).view(8, 64).mean(1)
    assert ((read - expected).abs() < 4).all()


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def jpeg() -> bytes:
    image = Image.fromarray(random_pixels(64, 64, 3))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG")
    return buffer.getvalue()


BAD = {
    "empty": (b"", "it is empty"),
    "text": (b"hello, this is text", "it is not an image"),
    "cut PNG": (cut(png(random_pixels(64, 64, 3))), ""),
    "cut JPEG": (cut(jpeg()), "truncated"),
    "header only": (png(random_pixels(8, 8))[:20], ""),
    "bomb": (huge_png(20_000), "it has too many pixels to be decoded safely"),
    "PostScript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "it is not an image"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_decoded(name: str, tmp_path: Path) -> None:
    content, reason = BAD[name]
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(
        UnreadableImage, match=re.escape(f"{path} cannot be read as an image: ")
    ) as e:
        read_image(path, size=8, channels=3)
    assert reason in e.value.reason
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    assert e.value.reason


def test_no_more_is_read_at_once_than_a_file_has(tmp_path: Path) -> None:
    buffer, path = io.BytesIO(), tmp_path / "a.jp2"
    Image.fromarray(random_pixels(8, 8, 3)).save(buffer, "JPEG2000")
    before, box, after = buffer.getvalue().partition(b"jp2h")
    longer = before[:-4] + b"\0\0\0\1" + box + (1 << 40).to_bytes(8, "big") + after
    path.write_bytes(longer)
    with pytest.raises(UnreadableImage, match="it states a part of 1,099,511,627,760 bytes"):
        read_image(path, size=8, channels=3)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(UnreadableImage, match="No such file"):
        read_image(tmp_path / "none.png", size=8, channels=3)
    with pytest.raises(UnreadableImage, match="directory"):
        read_image(tmp_path, size=8, channels=3)


def test_many_images_keep_their_order(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.png" for number in range(40)]
    pixels = [write_png(path, 8, 8, seed=number) for number, path in enumerate(paths)]
    calls: list[tuple[str, int, int]] = []
    decoded = read_images(paths, 8, 1, on_progress=lambda *call: calls.append(call))
    assert np.array_equal(decoded.pixels[:, 0].numpy(), np.stack(pixels))
    assert decoded.kept.tolist() == list(range(40))
    assert decoded.skipped == ()
    assert calls == [("reading images", done, 40) for done in range(1, 41)]


def test_bad_images_are_the_error_or_are_skipped(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.png" for number in range(20)]
    for number, path in enumerate(paths):
        write_png(path, 8, 8, seed=number)
    paths[13].write_bytes(b"")
    paths[7].write_text("no image")
    with pytest.raises(UnreadableImage, match=r"7\.png .*not an image.*set skip_bad to continue"):
        read_images(paths, 8, 1)
    decoded = read_images(paths, 8, 1, skip_bad=True)
    assert decoded.kept.tolist() == [n for n in range(20) if n not in (7, 13)]
    assert torch.equal(decoded.pixels[8], read_image(paths[9], size=8, channels=1))
    assert [Path(error.name).name for error in decoded.skipped] == ["7.png", "13.png"]
    nothing = read_images([paths[7]], 8, 1, skip_bad=True)
    assert nothing.pixels.shape == (0, 1, 8, 8)


def test_the_survey_takes_the_median_side_and_sees_colour(tmp_path: Path) -> None:
    sides = [10, 20, 30, 300, 301]
    paths = [tmp_path / f"{side}.png" for side in sides]
    for side, path in zip(sides, paths, strict=True):
        write_png(path, side, side + 7)
    assert survey(paths) == (30, 1)
    assert survey(paths[3:]) == (224, 1)
    write_png(tmp_path / "tiny.png", 4, 4, 3)
    assert survey([tmp_path / "tiny.png"]) == (8, 3)
    write_png(paths[0], 10, 10, 3)
    assert survey(paths) == (30, 3)
    paths[0].write_bytes(b"")
    assert survey(paths[:2]) == (20, 1)
    Image.fromarray(np.zeros((9, 9), np.uint16)).save(paths[0])
    assert survey(paths[:1]) == (9, 1)


def test_the_survey_looks_at_a_hundred_of_many(tmp_path: Path) -> None:
    write_png(tmp_path / "a.png", 12, 12)
    write_png(tmp_path / "b.png", 40, 40)
    paths = [tmp_path / "a.png"] * 150 + [tmp_path / "b.png"] * 850
    assert survey(paths) == (40, 1)


@pytest.mark.parametrize(
    ("size", "channels", "message"),
    [
        (0, 3, "image_size must be at least 1 pixel, got 0"),
        (8, 2, "channels must be 1 (grey) or 3 (colour), got 2"),
        (1_000_000, 3, "choose a smaller image_size"),
    ],
)
def test_mistakes(size: int, channels: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read_images([tmp_path / "a.png"] * 10, size, channels)
