"""Reading many image files: the size that suits them, and all their pixels."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mentornet.data.files.decode import Packed, UnreadableImage, check_shape, decode, opened, quiet
from mentornet.data.files.memory import memory_here
from mentornet.data.progress import Progress
from mentornet.data.stream.streamed import Place, read_place
from mentornet.errors import MentorNetError

__all__ = ["Decoded", "Source", "read_images", "survey"]

Source = Path | Packed | Place
"""An image: a file, its bytes, or where these are in a file."""

WORKERS = min(4, os.cpu_count() or 1)
"""Number of threads that decode; Pillow releases the lock of Python while it decodes."""

SMALLEST, LARGEST, SAMPLE = 8, 224, 100
"""The bounds of the size that `survey` proposes, and the number of images that it looks at."""


class Decoded(NamedTuple):
    """Images that were read together.

    Attributes:
        pixels: `(N, C, size, size)`, uint8, of the images that could be read.
        kept: their places in the list that was asked for, `(N,)`.
        skipped: one error for each of the other images, in order.
    """

    pixels: Tensor
    kept: Tensor
    skipped: tuple[UnreadableImage, ...]


def read_images(
    paths: Sequence[Source],
    size: int,
    channels: int,
    skip_bad: bool = False,
    on_progress: Progress | None = None,
) -> Decoded:
    """All images as `read_image` reads them, in the order of `paths`.

    Args:
        paths: the images.
        size: height and width of the result.
        channels: C, 1 or 3.
        skip_bad: leave out images that cannot be read; if not, the first such image is an error.
        on_progress: called after each image.
    """
    check_shape(size, channels)
    _check_memory(len(paths), size, channels)
    pixels = torch.empty(len(paths), channels, size, size, dtype=torch.uint8)
    skipped: dict[int, UnreadableImage] = {}

    def fill(place: int) -> UnreadableImage | None:
        try:
            pixels[place] = decode(_found(paths[place]), size, channels)
        except UnreadableImage as error:
            return error
        return None

    with quiet(), ThreadPoolExecutor(WORKERS) as pool:
        for place, error in enumerate(pool.map(fill, range(len(paths)))):
            if error is not None and not skip_bad:
                pool.shutdown(wait=False, cancel_futures=True)
                hint = (
                    ""
                    if isinstance(paths[place], Packed)
                    else "; set skip_bad to continue without it"
                )
                raise UnreadableImage(error.name, f"{error.reason}{hint}") from error
            if error is not None:
                skipped[place] = error
            if on_progress is not None:
                on_progress("reading images", place + 1, len(paths))
    kept = torch.tensor([i for i in range(len(paths)) if i not in skipped], dtype=torch.long)
    return Decoded(pixels[kept] if skipped else pixels, kept, tuple(skipped.values()))


def survey(paths: Sequence[Source]) -> tuple[int, int]:
    """The size and the number of channels that suit these images, from up to 100 of their headers.

    The size is the median of the shorter sides, limited to 8 … 224. There is 1 channel if all
    images are grey, else there are 3.
    """
    step = max(1, -(-len(paths) // SAMPLE))
    with quiet():
        found = [header for path in paths[::step] if (header := _header(path))]
    if not found:
        return SMALLEST, 3
    size = statistics.median_low(side for side, _ in found)
    return min(max(size, SMALLEST), LARGEST), 1 if all(grey for _, grey in found) else 3


def _found(source: Source) -> Path | Packed:
    return read_place(source) if isinstance(source, Place) else source


def _header(path: Source) -> tuple[int, bool] | None:
    """The shorter side and whether the image is grey, or None if it cannot be read."""
    try:
        with opened(_found(path)) as image:
            return min(image.size), image.mode in ("1", "L") or image.mode.startswith("I")
    except UnreadableImage:
        return None


def _check_memory(count: int, size: int, channels: int) -> None:
    """Raise if the images cannot fit into memory, before hours of decoding."""
    memory, needed = memory_here(), count * channels * size**2
    if memory is not None and needed > memory:
        raise MentorNetError(
            f"{count} images of {channels} × {size} × {size} need {needed / 1e9:.1f} GB, "
            f"and this machine has {memory / 1e9:.1f} GB; choose a smaller image_size, "
            "or set stream"
        )
