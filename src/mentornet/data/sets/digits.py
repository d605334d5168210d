"""The digits of scikit-learn: 1,797 real grey images of 8 × 8 pixels, with no download."""

from __future__ import annotations

import torch

from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.dataset import Dataset
from mentornet.randomness import generator

__all__ = ["DIGITS", "load_digits"]

_TEST = 360  # one in five


def load_digits() -> Splits:
    """The digits, split in the same way every time. Pixels 0–16 are scaled to 0–255."""
    from sklearn.datasets import load_digits as bundled

    raw = bundled()
    pixels = torch.from_numpy(raw.images).unsqueeze(1) * (255 / 16)
    label = torch.from_numpy(raw.target).long()
    order = torch.randperm(len(label), generator=generator(0))
    everything = Samples(pixels.round().to(torch.uint8), label, tuple("0123456789"))
    return Splits(everything.rows(order[_TEST:]), everything.rows(order[:_TEST]))


DIGITS = Dataset(
    "digits", "Grey 8 × 8 images of digits. They come with scikit-learn; nothing is downloaded.",
    lambda _: load_digits(), shape=(1, 8, 8), classes=10, count=1_437, has_clean_labels=True,
)  # fmt: skip
