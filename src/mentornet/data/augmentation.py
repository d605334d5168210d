"""The augmentation of the paper, on a whole batch of images at once (App. E).

Each image is padded by 4 pixels on each side, cut to a random window of the old size, flipped left
to right at random, and scaled to mean 0 and variance 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["augment", "standardise"]


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
