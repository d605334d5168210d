"""What CIFAR's classes are called, and which of them belong together."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from mentornet.data.samples import Splits

__all__ = ["CIFAR10", "CIFAR100", "grouped"]

CIFAR10 = (
    "airplane", "automobile", "bird", "cat", "deer",
    "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip

_CIFAR100 = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus
    butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch
    crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo
    keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain
    mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain
    plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk
    skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone
    television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""

CIFAR100 = tuple(_CIFAR100.split())


def grouped(splits: Splits, coarse_label: Tensor) -> Splits:
    """The same images, with the superclass of each class as the training images show it.

    Args:
        splits: with the fine labels.
        coarse_label: the superclass of each training image, `(N,)`. A class that no training
            image has is in group −1.
    """
    groups = torch.full((len(splits.train.classes),), -1)
    groups[splits.train.given_label] = coarse_label
    return replace(
        splits,
        train=replace(splits.train, groups=groups),
        test=replace(splits.test, groups=groups),
    )
