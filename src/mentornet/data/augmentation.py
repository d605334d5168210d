"""The augmentation of the paper, on a whole batch of images at once (App. E).

Each image is padded by 4 pixels on each side, cut to a random window of the old size, flipped left
to right at random, and scaled to mean 0 and variance 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["COVER_DRAWS", "augment", "covered", "standardise"]

COVER_DRAWS = 4
"""How many random numbers `covered` takes for an image."""

_SIDE = 3 / 8  # of the covered square, as a share of the image's
_GAIN, _SHIFT = 0.3, 0.65  # the largest changes of contrast and of brightness


def augment(
    pixels: Tensor,
    *,
    generator: torch.Generator,
    padding: int = 4,
    flip: bool = True,
    part: tuple[slice, int] | None = None,
) -> Tensor:
    """Random windows and flips of a batch of images, drawn for each image on its own.

    Args:
        pixels: `(B, C, H, W)` of any dtype.
        generator: the source of the random numbers.
        padding: number of zeros added on each side before the cut.
        flip: whether each image is flipped left to right with probability 1/2.
        part: if the pixels are only a part of a batch, the slice and the size of the whole batch;
            each image is then changed as it would be in the whole.
    """
    batch, _, height, width = pixels.shape
    mine, whole = part or (slice(None), batch)
    padded = torch.nn.functional.pad(pixels, [padding] * 4)
    top, left = torch.randint(2 * padding + 1, (2, whole), generator=generator)[:, mine]
    rows = top[:, None] + torch.arange(height)
    columns = left[:, None] + torch.arange(width)
    if flip:
        turned = torch.rand(whole, generator=generator)[mine] < 0.5
        columns = torch.where(turned[:, None], columns.flip(1), columns)
    samples = torch.arange(batch)[:, None, None]
    return padded[samples, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def standardise(pixels: Tensor) -> Tensor:
    """Each image of uint8 `(B, C, H, W)` as float32 with mean 0 and variance 1.

    The standard deviation is limited from below to 255/√(number of values), so that an image of
    one colour becomes 0 and not NaN.
    """
    images = pixels.float()
    floor = 255 * images[0].numel() ** -0.5
    mean = images.mean((1, 2, 3), keepdim=True)
    deviation = images.std((1, 2, 3), correction=0, keepdim=True).clamp(min=floor)
    return (images - mean) / deviation


def covered(images: Tensor, draws: Tensor) -> Tensor:
    """Return images that are harder to recognise: a square is covered, and colours change.

    The square has 3/8 of the image's sides, and is 0 afterwards. Contrast changes by up to 30 %,
    and brightness by up to 0.65 standard deviations, in each channel in its own way.

    Args:
        images: `(B, C, H, W)` of mean 0 and variance 1.
        draws: `(B, COVER_DRAWS)` in [0, 1).

    >>> covered(torch.ones(1, 1, 8, 8), torch.full((1, 4), 0.5)).sum().item()  # 9 of 64 are covered
    55.0
    """
    _, channels, height, width = images.shape
    u = draws.to(images)
    turn = torch.arange(channels, device=images.device).to(u) / channels
    gain, shift = ((u[:, at, None] + turn) % 1 * 2 - 1 for at in (2, 3))
    changed = images * (1 + _GAIN * gain)[..., None, None] + (_SHIFT * shift)[..., None, None]
    inside = []
    for at, length in ((0, height), (1, width)):
        side = max(1, round(_SIDE * length))
        first = (u[:, at, None] * length - side / 2).round()
        place = torch.arange(length, device=images.device)
        inside.append((place >= first) & (place < first + side))
    square = inside[0][:, None, :, None] & inside[1][:, None, None, :]
    return changed.masked_fill(square, 0.0)
