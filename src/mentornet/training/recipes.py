"""Defaults that suit the data: student, epochs, batch size, learning rate and more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from mentornet.config import TrainConfig
from mentornet.data import Samples
from mentornet.students import PAPER_STUDENTS

__all__ = ["Recipe", "recipe_for", "resolve"]

T = TypeVar("T")


@dataclass(frozen=True)
class Recipe:
    """A value for every setting that a config may leave open."""

    student: str
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    padding: int
    augment: bool = True


TINY = Recipe(
    "small-cnn", epochs=50, batch_size=64, learning_rate=0.1, weight_decay=1e-4, padding=1
)
"""For some thousand small grey images, such as digits."""

GREY = Recipe(
    "small-cnn", epochs=10, batch_size=128, learning_rate=0.1, weight_decay=2e-4, padding=2
)
"""For ten thousand or more small grey images, such as Fashion-MNIST."""

COLOUR = Recipe("fast", epochs=10, batch_size=128, learning_rate=0.2, weight_decay=5e-4, padding=2)
"""For colour images, such as CIFAR. Small batches fit in the CPU's cache, so they are fast.
In so few epochs, 2 pixels of padding work better than the paper's 4."""


LARGE = Recipe(
    "inception-resnet-v2", epochs=30, batch_size=32, learning_rate=0.05, weight_decay=4e-5,
    padding=0,
)  # fmt: skip
"""For streamed photographs, such as ImageNet (App. E); they are cropped, not padded."""


def recipe_for(images: Samples) -> Recipe:
    """Choose the recipe for images of this kind and number."""
    channels, _, width = images.shape
    if images.streamed:
        return LARGE
    if channels == 3 and width >= 24:
        short = max(1, round(50_000 / max(1, len(images)) * COLOUR.epochs))
        return replace(COLOUR, epochs=min(40, max(COLOUR.epochs, short)))
    return TINY if len(images) < 10_000 else GREY


def resolve(config: TrainConfig, images: Samples, *, method: str) -> TrainConfig:
    """Fill in every setting that the config leaves open, except the sizes of the student.

    Args:
        config: the user's config.
        images: the training images.
        method: the name of the method.
    """
    recipe, optimiser = recipe_for(images), config.optimiser
    student = _or(config.student.student, recipe.student)
    return replace(
        config,
        student=replace(config.student, student=student),
        method=replace(config.method, method=method),
        optimiser=replace(
            optimiser,
            epochs=None if optimiser.steps is not None else _or(optimiser.epochs, recipe.epochs),
            batch_size=_or(optimiser.batch_size, min(recipe.batch_size, len(images))),
            learning_rate=_or(optimiser.learning_rate, recipe.learning_rate),
            weight_decay=_or(optimiser.weight_decay, recipe.weight_decay),
            decayed=optimiser.decayed or ("weights" if student in PAPER_STUDENTS else "all"),
            augment=_or(optimiser.augment, recipe.augment),
            padding=_or(optimiser.padding, recipe.padding),
        ),
    )


def _or(given: T | None, otherwise: T) -> T:
    return otherwise if given is None else given
