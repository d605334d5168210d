"""The class names of CIFAR, and the superclasses of CIFAR-100."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from mentornet.data.samples import Samples, Splits
from mentornet.errors import MentorNetError

__all__ = ["CLASSES", "SUPERCLASSES", "coarse", "grouped"]

_CIFAR10 = "airplane automobile bird cat deer dog frog horse ship truck"

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

_COARSE = """
    aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices
    household_furniture insects large_carnivores large_man-made_outdoor_things
    large_natural_outdoor_scenes large_omnivores_and_herbivores medium_mammals
    non-insect_invertebrates people reptiles small_mammals trees vehicles_1 vehicles_2
"""

SUPERCLASSES = tuple(_COARSE.split())
"""The names of the superclasses of CIFAR-100, in the order of their numbers."""

CLASSES = {"cifar10": tuple(_CIFAR10.split()), "cifar100": tuple(_CIFAR100.split())}
"""The class names of both datasets, in the order of their labels."""


def grouped(splits: Splits, coarse_label: Tensor) -> Splits:
    """The same splits with the superclass of each class as its group.

    Args:
        splits: with the fine labels.
        coarse_label: the superclass of each training image, `(N,)`. A class with no training
            image gets group −1.
    """
    groups = torch.full((len(splits.train.classes),), -1)
    groups[splits.train.given_label] = coarse_label
    return replace(
        splits,
        train=replace(splits.train, groups=groups),
        test=replace(splits.test, groups=groups),
    )


def coarse(splits: Splits) -> Splits:
    """The same splits with the superclasses of CIFAR-100 as their classes."""
    validation = None if splits.validation is None else _coarse(splits.validation)
    return replace(
        splits, train=_coarse(splits.train), test=_coarse(splits.test), validation=validation
    )


def _coarse(samples: Samples) -> Samples:
    groups = samples.groups
    if groups is None or int(groups.max()) >= len(SUPERCLASSES):
        raise MentorNetError("coarse labels need the superclasses of CIFAR-100")
    return replace(
        samples,
        given_label=groups[samples.given_label],
        true_label=None if samples.true_label is None else groups[samples.true_label],
        classes=SUPERCLASSES,
        groups=None,
    )
