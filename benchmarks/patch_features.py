"""Features of CIFAR-10's training images for development runs, which a small student learns from.

Patches of 6 × 6 pixels are compared with 256 whitened patches that k-means found on training
images 0–4,999, and the similarities above a threshold are pooled to 2 × 2 (Coates et al. 2011).
They are made once, in some minutes, and stored in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mentornet.data import load_data
from mentornet.data.sets.places import cache_folder

FIRST, LAST, HELD, LAST_HELD = 20_000, 31_000, 40_000, 44_000
SIDE, PATCHES, DRAWN, ROUNDS, CHUNK = 6, 256, 8_000, 8, 250


class Features(NamedTuple):
    """Features of training images 20,000–30,999 in four views, and of held-out ones in one."""

    x: Tensor
    true: Tensor
    x_held: Tensor
    true_held: Tensor


def features() -> Features:
    """Return the features, from the cache if they are there."""
    path = cache_folder() / "development-features.pt"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(_made()._asdict(), path)
    return Features(**torch.load(path, weights_only=True))


def _made() -> Features:
    train = load_data("cifar10").train
    assert isinstance(train.inputs, Tensor)
    filters = _filters(_pixels(train.inputs[:5_000]))
    learned, held = train.inputs[FIRST:LAST], train.inputs[HELD:LAST_HELD]
    views = [_of_images(view(learned), filters) for view in VIEWS]
    return Features(
        torch.stack(views, 1), train.given_label[FIRST:LAST],
        _of_images(held, filters), train.given_label[HELD:LAST_HELD],
    )  # fmt: skip


def _pixels(images: Tensor) -> Tensor:
    return (images.float() / 255 - 0.47) / 0.25


def _filters(images: Tensor) -> Tensor:
    """Return the patches that k-means finds, and that whiten what they are compared with."""
    draw = torch.Generator().manual_seed(5)
    patches = []
    for number in torch.randint(len(images), (DRAWN,), generator=draw).tolist():
        top, left = torch.randint(0, 33 - SIDE, (2,), generator=draw).tolist()
        patches.append(images[number, :, top : top + SIDE, left : left + SIDE].flatten())
    found = torch.stack(patches)
    found = found - found.mean(1, keepdim=True)
    found = found / (found.std(1, keepdim=True) + 0.2)
    values, vectors = torch.linalg.eigh(torch.cov(found.T))
    whiten = vectors @ torch.diag((values + 0.05).rsqrt()) @ vectors.T
    points = nn.functional.normalize((found - found.mean(0)) @ whiten)
    centres = points[torch.randperm(len(points), generator=draw)[:PATCHES]]
    for _ in range(ROUNDS):
        likeness = points @ centres.T
        nearest = likeness.abs().argmax(1)
        sign = likeness.gather(1, nearest[:, None]).sign()
        centres = nn.functional.normalize((1e-3 * centres).index_add(0, nearest, points * sign))
    return (centres @ whiten).view(PATCHES, 3, SIDE, SIDE)


def _of_images(images: Tensor, filters: Tensor) -> Tensor:
    return torch.cat([_of_some(_pixels(some), filters) for some in images.split(CHUNK)])


def _of_some(pixels: Tensor, filters: Tensor) -> Tensor:
    first, second = (
        nn.functional.avg_pool2d((pixels**power).mean(1, keepdim=True), SIDE, 1) for power in (1, 2)
    )
    mean, spread = first, (second - first * first).clamp(min=0).sqrt() + 0.2
    likeness = nn.functional.conv2d(pixels, filters) - mean * filters.sum((1, 2, 3))[:, None, None]
    return nn.functional.adaptive_avg_pool2d((likeness / spread - 1).relu(), 2).flatten(1).half()


def _moved(images: Tensor, down: int, right: int) -> Tensor:
    """Return the images moved within a reflected border of 3 pixels."""
    bordered = nn.functional.pad(images.float(), (3, 3, 3, 3), mode="reflect")
    return bordered[:, :, down : down + 32, right : right + 32].byte()


VIEWS = (
    lambda images: images,
    lambda images: images.flip(3),
    lambda images: _moved(images, 5, 1),
    lambda images: _moved(images.flip(3), 1, 5),
)
"""As they are, flipped, moved, and both."""
