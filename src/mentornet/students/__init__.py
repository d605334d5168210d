"""Students: the classifiers that are trained, one network a file."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable

from torch import nn

from mentornet.errors import MentorNetError
from mentornet.names import pick
from mentornet.randomness import seeded
from mentornet.students.fast import FastStudent
from mentornet.students.inception import SmallInception
from mentornet.students.resnet import ResNet, resnet101
from mentornet.students.small_cnn import SmallCNN

__all__ = [
    "STUDENTS",
    "FastStudent",
    "ResNet",
    "SmallCNN",
    "SmallInception",
    "make_student",
    "resnet101",
]

STUDENTS: dict[str, Callable[..., nn.Module]] = {
    "small-cnn": SmallCNN,
    "fast": FastStudent,
    "inception": SmallInception,
    "resnet": ResNet,
    "resnet101": resnet101,
}


def make_student(
    name: str, *, channels: int, classes: int, seed: int = 0, **sizes: float
) -> nn.Module:
    """A fresh student of that name, or from a factory of the user's, `module:factory`.

    A factory is called with `channels`, `classes` and the other sizes that are given.

    >>> student = make_student("small-cnn", channels=1, classes=10)
    >>> sum(parameter.numel() for parameter in student.parameters())
    264522
    """
    factory = _import(name) if ":" in name else pick(STUDENTS, name, "student")
    try:
        inspect.signature(factory).bind(channels=channels, classes=classes, **sizes)
    except TypeError as error:
        raise MentorNetError(f"student {name!r} cannot be made like that: {error}") from None
    with seeded(seed):
        student = factory(channels=channels, classes=classes, **sizes)
    if not isinstance(student, nn.Module):
        raise MentorNetError(f"{name} must return a torch module, got {type(student).__name__}")
    return student


def _import(name: str) -> Callable[..., object]:
    module, _, factory = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError) as error:
        raise MentorNetError(
            f"student {name!r} must name a module and a factory in it, as in mynets:small; {error}"
        ) from None
    if not callable(found):
        raise MentorNetError(f"student {name!r} is not something to call")
    return found
