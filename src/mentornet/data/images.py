"""Labelled images in memory: what every dataset is read into."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["Images", "Splits"]


@dataclass(frozen=True)
class Images:
    """N images with their labels.

    Attributes:
        pixels: `(N, C, H, W)`, uint8.
        given_label: `(N,)`, int64 in 0 … K−1, right or wrong.
        classes: the K class names.
        true_label: `(N,)`, where it is known.
        groups: the superclass of each class, `(K,)`, where classes have one.
    """

    pixels: Tensor
    given_label: Tensor
    classes: tuple[str, ...]
    true_label: Tensor | None = None
    groups: Tensor | None = None

    def __post_init__(self) -> None:
        if self.pixels.ndim != 4 or self.pixels.dtype != torch.uint8:
            raise MentorNetError(
                "pixels must be uint8 of shape (N, C, H, W), "
                f"got {self.pixels.dtype} of shape {tuple(self.pixels.shape)}"
            )
        if len(self.classes) < 2:
            raise MentorNetError(f"a classifier needs at least 2 classes, got {len(self.classes)}")
        for name, label in (("given", self.given_label), ("true", self.true_label)):
            if label is None:
                continue
            if label.shape != (len(self),):
                raise MentorNetError(
                    f"one {name} label an image: got {len(label)} labels and {len(self)} images"
                )
            if len(label) and not 0 <= int(label.min()) <= int(label.max()) < len(self.classes):
                raise MentorNetError(
                    f"{name} labels must be in 0–{len(self.classes) - 1}, "
                    f"got {int(label.min())} to {int(label.max())}"
                )

    def __len__(self) -> int:
        """N."""
        return len(self.pixels)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W)."""
        _, channels, height, width = self.pixels.shape
        return channels, height, width

    def rows(self, index: Tensor | slice) -> Images:
        """The images at `index`."""
        true_label = None if self.true_label is None else self.true_label[index]
        return Images(
            self.pixels[index], self.given_label[index], self.classes, true_label, self.groups
        )

    def relabelled(self, given_label: Tensor) -> Images:
        """The same images with other given labels; the labels they had count as true."""
        true_label = self.given_label if self.true_label is None else self.true_label
        return Images(self.pixels, given_label, self.classes, true_label, self.groups)


@dataclass(frozen=True)
class Splits:
    """The parts of a dataset: `train` may be noisy, `test` is clean."""

    train: Images
    test: Images
