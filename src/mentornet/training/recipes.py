"""Defaults that suit the data: student, epochs, batch size, learning rate and more."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mentornet.config import StudentConfig, TrainConfig
from mentornet.config.groups import Optimiser, Schedule
from mentornet.data import Kind, Samples
from mentornet.data.sets.dataset import Dataset
from mentornet.errors import MentorNetError
from mentornet.methods import Method, settings_in_use
from mentornet.students import PAPER_STUDENTS, find_student, preprocessing_of

__all__ = ["Facts", "Recipe", "head_recipe", "recipe_for", "resolve"]

T = TypeVar("T")


@dataclass(frozen=True)
class Facts:
    """What a recipe has to know of the training samples."""

    shape: tuple[int, ...]
    count: int
    streamed: bool
    kind: Kind = "images"

    @classmethod
    def of(cls, samples: Samples) -> Facts:
        """Return the facts of loaded samples."""
        return cls(samples.shape, len(samples), samples.streamed, samples.kind)

    @classmethod
    def of_dataset(cls, dataset: Dataset) -> Facts:
        """Return the facts of a named dataset, without loading it."""
        return cls(dataset.shape, dataset.count, dataset.streamed)


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
    schedule: Schedule = "cosine"
    warm_up: float = 0.1
    drops: tuple[float, ...] = (0.5, 0.64, 0.77)
    momentum: float = 0.9
    nesterov: bool = True
    optimiser: Optimiser | None = None
    head_rate: float | None = None


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

HEAD = Recipe(
    "", epochs=30, batch_size=64, learning_rate=2.0, weight_decay=2.5e-4, padding=0, augment=False
)
"""For a new last layer on the features of a pretrained network (see `Head`)."""

FINE_TUNE = Recipe(
    "", epochs=5, batch_size=32, learning_rate=1e-4, weight_decay=0.01, padding=0,
    optimiser="adamw", head_rate=10.0,
)  # fmt: skip
"""For the whole of a pretrained network."""

FROZEN_UP_TO = 10_000
"""Number of samples up to which only the last layer of a pretrained network is trained."""

_PADDING = 1 / 8  # of the side of an image, for a pretrained network that is fine-tuned
_STRONG = 1500  # number of samples up to which the head has the weight decay of its recipe


VECTORS = Recipe(
    "mlp", epochs=30, batch_size=64, learning_rate=0.01, weight_decay=5e-3, padding=0,
    augment=False,
)  # fmt: skip
"""For rows of a table and for vectors. A student that learns faster memorises wrong labels before
a mentor can tell them apart; on clean labels it is not better."""

TOKENS = Recipe(
    "ngrams", epochs=20, batch_size=64, learning_rate=1.0, weight_decay=1e-4, padding=0,
    augment=False,
)  # fmt: skip
"""For texts as hashed n-grams, with a linear model, whose inputs have length 1."""

MOST_STEPS, FEWEST_EPOCHS = 20_000, 5
"""A large table has fewer epochs, so that there are about so many steps, but at least 5 epochs. (A
small one does not have more, because then wrong labels are memorised.)"""


def recipe_for(facts: Facts) -> Recipe:
    """Choose the recipe for samples of this kind and number, and a student trained from scratch."""
    if facts.kind != "images":
        return _not_images(facts)
    channels, _, width = facts.shape
    if facts.streamed:
        return LARGE
    if channels == 3 and width >= 24:
        short = max(1, round(50_000 / max(1, facts.count) * COLOUR.epochs))
        return replace(COLOUR, epochs=min(40, max(COLOUR.epochs, short)))
    return TINY if facts.count < 10_000 else GREY


def head_recipe(count: int) -> Recipe:
    """Return the recipe for a new last layer on the features of so many samples."""
    return replace(HEAD, weight_decay=HEAD.weight_decay * min(1.0, _STRONG / count))


def _not_images(facts: Facts) -> Recipe:
    """Choose the recipe for vectors or tokens."""
    recipe = VECTORS if facts.kind == "vectors" else TOKENS
    steps = max(1, -(-facts.count // recipe.batch_size))  # of an epoch
    return replace(recipe, epochs=min(recipe.epochs, max(FEWEST_EPOCHS, MOST_STEPS // steps)))


def resolve(config: TrainConfig, facts: Facts, *, name: str, method: Method) -> TrainConfig:
    """Fill in every setting that the config leaves open, those of the method included.

    Args:
        config: the user's config.
        facts: what is known of the training samples.
        name: the name of the method.
        method: the method that was made by that name and the config's settings.
    """
    recipe, optimiser = _recipe(config.student, facts), config.optimiser
    student = _student(config.student, recipe.student, method, facts.count)
    of_the_paper = student.student in PAPER_STUDENTS
    return replace(
        config,
        student=student,
        method=replace(
            config.method, method=name, set=settings_in_use(name, method, config.method.set)
        ),
        optimiser=replace(
            optimiser,
            optimiser=_or(optimiser.optimiser, recipe.optimiser),
            head_rate=_or(optimiser.head_rate, recipe.head_rate),
            epochs=None if optimiser.steps is not None else _or(optimiser.epochs, recipe.epochs),
            batch_size=_or(optimiser.batch_size, min(recipe.batch_size, facts.count)),
            learning_rate=_or(optimiser.learning_rate, recipe.learning_rate),
            schedule=_or(optimiser.schedule, recipe.schedule),
            warm_up=_or(optimiser.warm_up, recipe.warm_up),
            drops=_or(optimiser.drops, recipe.drops),
            momentum=_or(optimiser.momentum, recipe.momentum),
            nesterov=_or(optimiser.nesterov, recipe.nesterov),
            weight_decay=_or(optimiser.weight_decay, recipe.weight_decay),
            decayed=_or(optimiser.decayed, "weights" if of_the_paper else "all"),
            augment=_or(optimiser.augment, recipe.augment),
            padding=_or(optimiser.padding, recipe.padding),
            accumulate=_or(optimiser.accumulate, 1),
        ),
    )


def is_frozen(student: StudentConfig, count: int) -> bool | None:
    """Return whether only the last layer is trained on so many samples.

    None stands for a student that is trained from scratch; to freeze that one is an error.
    """
    if student.student is None or preprocessing_of(student.student) is None:
        if student.freeze:
            raise MentorNetError(
                f"freeze needs a pretrained student, but {student.student or 'the default one'} "
                "is trained from scratch; name one, as in student hf:FOLDER, or leave out freeze"
            )
        return None
    return count <= FROZEN_UP_TO if student.freeze is None else student.freeze


def _recipe(student: StudentConfig, facts: Facts) -> Recipe:
    frozen = is_frozen(student, facts.count)
    if frozen is None:
        return recipe_for(facts)
    if frozen:
        return head_recipe(facts.count)
    side = max(facts.shape[1:]) if facts.kind == "images" else 0
    return replace(FINE_TUNE, padding=round(_PADDING * side))


def _student(given: StudentConfig, otherwise: str, method: Method, count: int) -> StudentConfig:
    """Return the student's name and those of its sizes that it has a default for."""
    name = _or(given.student, otherwise)
    if is_frozen(given, count) is not None:
        return replace(given, freeze=is_frozen(given, count))
    own = {
        size: parameter.default
        for size, parameter in inspect.signature(find_student(name)).parameters.items()
        if isinstance(parameter.default, int | float)
    }
    dropout = _or(method.needs.dropout, own.get("dropout"))
    sizes: dict[str, Any] = own | {"dropout": dropout} | given.sizes
    return StudentConfig(name, sizes.get("width"), sizes.get("depth"), sizes.get("dropout"))


def _or(given: T | None, otherwise: T) -> T:
    return otherwise if given is None else given
