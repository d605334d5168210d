"""The paper's augmentation, on a whole batch at once (App. E).

Pad 4 pixels to each side, cut out a random window of the old size, flip left to right at
random, then scale each image to zero mean and unit norm.
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
    """Random windows and flips of a batch, `(B, C, H, W)` of any dtype, one draw an image.

    Args:
        pixels: the batch.
        generator: where the draws come from.
        padding: pixels of zeros added to each side before the cut.
        flip: whether half of the images are turned left to right.
        part: where the pixels are only a part of a batch, which part, and the size of the whole:
            each image is drawn as it would be in the whole.
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

    The deviation is at least 1/√(number of pixels) of the range, so that an image of one
    colour becomes 0 and not NaN.
    """
    images = pixels.float()
    floor = 255 * images[0].numel() ** -0.5
    mean = images.mean((1, 2, 3), keepdim=True)
    deviation = images.std((1, 2, 3), correction=0, keepdim=True).clamp(min=floor)
    return (images - mean) / deviation
