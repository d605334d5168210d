from __future__ import annotations

import torch

from mentornet.data import augment, standardise
from mentornet.randomness import generator


def one_by_one(pixels: torch.Tensor, *, generator: torch.Generator, padding: int) -> torch.Tensor:
    """The same draws, an image at a time."""
    batch, channels, height, width = pixels.shape
    top, left = torch.randint(2 * padding + 1, (2, batch), generator=generator)
    turned = torch.rand(batch, generator=generator) < 0.5
    out = torch.zeros_like(pixels)
    for b in range(batch):
        frame = torch.zeros(channels, height + 2 * padding, width + 2 * padding, dtype=pixels.dtype)
        frame[:, padding : padding + height, padding : padding + width] = pixels[b]
        cut = frame[:, top[b] : top[b] + height, left[b] : left[b] + width]
        out[b] = cut.flip(2) if turned[b] else cut
    return out


def test_equals_the_slow_loop() -> None:
    pixels = torch.randint(256, (20, 3, 8, 10), generator=generator(0), dtype=torch.uint8)
    fast = augment(pixels, generator=generator(1))
    assert torch.equal(fast, one_by_one(pixels, generator=generator(1), padding=4))
    assert not torch.equal(fast, augment(pixels, generator=generator(2)))


def test_no_padding_and_no_flip_is_no_change() -> None:
    pixels = torch.randint(256, (5, 1, 8, 8), generator=generator(0), dtype=torch.uint8)
    assert torch.equal(augment(pixels, generator=generator(1), padding=0, flip=False), pixels)


def test_standardised_images_have_mean_0_and_variance_1() -> None:
    pixels = torch.randint(256, (20, 3, 8, 8), generator=generator(0), dtype=torch.uint8)
    images = standardise(pixels)
    torch.testing.assert_close(images.mean((1, 2, 3)), torch.zeros(20), atol=1e-5, rtol=0)
    torch.testing.assert_close(images.var((1, 2, 3), correction=0), torch.ones(20))


def test_an_image_of_one_colour_is_not_nan() -> None:
    assert (standardise(torch.full((1, 3, 8, 8), 200, dtype=torch.uint8)) == 0).all()
