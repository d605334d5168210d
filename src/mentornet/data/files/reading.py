"""Many image files at once: what size they are, and all their pixels."""

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
from mentornet.data.progress import Progress
from mentornet.errors import MentorNetError

__all__ = ["Decoded", "read_images", "survey"]

WORKERS = min(4, os.cpu_count() or 1)
"""Threads that decode at once; Pillow lets go of Python's lock while it does."""

SMALLEST, LARGEST, SAMPLE = 8, 224, 100
"""Bounds of the size that `survey` proposes, and how many images it looks at."""


class Decoded(NamedTuple):
    """Samples that were read together.

    Attributes:
        pixels: `(N, C, size, size)`, uint8, of those that could be read.
        kept: their places among all that were asked for, `(N,)`.
        skipped: one error for each of the others, in order.
    """

    pixels: Tensor
    kept: Tensor
    skipped: tuple[UnreadableImage, ...]


def read_images(
    paths: Sequence[Path | Packed],
    size: int,
    channels: int,
    skip_bad: bool = False,
    on_progress: Progress | None = None,
) -> Decoded:
    """Each image as `read_image` has it, in the order of `paths` however the threads run.

    Args:
        paths: files, or images inside files.
        size: height and width of the result.
        channels: C, 1 or 3.
        skip_bad: leave out what cannot be read; without it, the first such image is the error.
        on_progress: called after each image.
    """
    check_shape(size, channels)
    _check_memory(len(paths), size, channels)
    pixels = torch.empty(len(paths), channels, size, size, dtype=torch.uint8)
    skipped: dict[int, UnreadableImage] = {}

    def fill(place: int) -> UnreadableImage | None:
        try:
            pixels[place] = decode(paths[place], size, channels)
        except UnreadableImage as error:
            return error
        return None

    with quiet(), ThreadPoolExecutor(WORKERS) as pool:
        for place, error in enumerate(pool.map(fill, range(len(paths)))):
            if error is not None and not skip_bad:
                pool.shutdown(wait=False, cancel_futures=True)
                hint = "; --skip-bad continues without it" if isinstance(paths[place], Path) else ""
                raise UnreadableImage(error.name, f"{error.reason}{hint}") from error
            if error is not None:
                skipped[place] = error
            if on_progress is not None:
                on_progress("reading images", place + 1, len(paths))
    kept = torch.tensor([i for i in range(len(paths)) if i not in skipped], dtype=torch.long)
    return Decoded(pixels[kept] if skipped else pixels, kept, tuple(skipped.values()))


def survey(paths: Sequence[Path | Packed]) -> tuple[int, int]:
    """The size and the channels that suit these images, from the headers of up to 100 of them.

    The size is the median of their shorter sides, held within 8 … 224: that of the images, where
    all are squares of one size. The channels are 1 if all are grey, else 3.
    """
    step = max(1, -(-len(paths) // SAMPLE))
    with quiet():
        found = [header for path in paths[::step] if (header := _header(path))]
    if not found:
        return SMALLEST, 3
    size = statistics.median_low(side for side, _ in found)
    return min(max(size, SMALLEST), LARGEST), 1 if all(grey for _, grey in found) else 3


def _header(path: Path | Packed) -> tuple[int, bool] | None:
    """The shorter side, and whether it is grey; nothing for what reading will find unreadable."""
    try:
        with opened(path) as image:
            return min(image.size), image.mode in ("1", "L") or image.mode.startswith("I")
    except UnreadableImage:
        return None


def _check_memory(count: int, size: int, channels: int) -> None:
    """Refuse what cannot fit, before hours of decoding."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return  # a system that does not tell
    needed = count * channels * size**2
    if needed > memory:
        raise MentorNetError(
            f"{count} images of {channels} × {size} × {size} need {needed / 1e9:.1f} GB, "
            f"and this machine has {memory / 1e9:.1f} GB; choose a smaller --image-size "
            "or --stream"
        )
