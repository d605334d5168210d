"""What a plan has to know of a dataset before it is loaded."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KINDS", "Kind"]


class Kind(NamedTuple):
    """The training images of a dataset, its classes, and the shape `(C, H, W)` of a view."""

    images: int
    classes: int
    shape: tuple[int, int, int] = (3, 32, 32)


KINDS = {
    "cifar10": Kind(50_000, 10),
    "cifar100": Kind(50_000, 100),
    "digits": Kind(1_437, 10, (1, 8, 8)),
    "imagenet": Kind(1_281_167, 1_000, (3, 299, 299)),
    "webvision": Kind(2_439_574, 1_000, (3, 299, 299)),
    "webvision-mini": Kind(65_944, 50, (3, 299, 299)),
}
