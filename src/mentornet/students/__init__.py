"""Students: the classifiers that are trained, one network per file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from mentornet.errors import MentorNetError, first_line
from mentornet.names import pick
from mentornet.plugins import load_factory
from mentornet.randomness import seeded
from mentornet.students.checking import check_student, initialised, is_frozen
from mentornet.students.fast import FastStudent
from mentornet.students.inception import SmallInception
from mentornet.students.inception_resnet import InceptionResNetV2
from mentornet.students.mlp import MLP
from mentornet.students.ngrams import NGramStudent
from mentornet.students.pair import Pair, answering
from mentornet.students.resnet import ResNet
from mentornet.students.small_cnn import SmallCNN
from mentornet.students.synced_norm import synced
from mentornet.students.wide_resnet import WideResNet, resnet101

__all__ = [
    "MLP",
    "PAPER_STUDENTS",
    "STUDENTS",
    "FastStudent",
    "InceptionResNetV2",
    "NGramStudent",
    "Pair",
    "ResNet",
    "SmallCNN",
    "SmallInception",
    "WideResNet",
    "answering",
    "check_reads",
    "check_student",
    "find_student",
    "initialised",
    "is_frozen",
    "make_student",
    "own_encoder",
    "resnet101",
    "synced",
]

STUDENTS: dict[str, Callable[..., nn.Module]] = {
    "small-cnn": SmallCNN,
    "fast": FastStudent,
    "inception": SmallInception,
    "resnet": ResNet,
    "resnet101": resnet101,
    "inception-resnet-v2": InceptionResNetV2,
    "mlp": MLP,
    "ngrams": NGramStudent,
}


PAPER_STUDENTS = ("inception", "resnet101", "inception-resnet-v2")
"""The students of the paper (Table 1)."""


def make_student(
    name: str, *, channels: int, classes: int, seed: int = 0, **sizes: float
) -> nn.Module:
    """Return a new student of that name, or one of the user's own, `module:factory`.

    A factory is called with `channels`, `classes` and all `sizes` that are given.

    >>> student = make_student("small-cnn", channels=1, classes=10)
    >>> sum(parameter.numel() for parameter in student.parameters())
    67754
    """
    factory = find_student(name)
    try:
        inspect.signature(factory).bind(channels=channels, classes=classes, **sizes)
    except TypeError as error:
        raise MentorNetError(f"student {name!r} cannot be made like that: {error}") from None
    with seeded(seed):
        try:
            student = factory(channels=channels, classes=classes, **sizes)
        except Exception as error:
            said = f"{type(error).__name__}: {first_line(error)}"
            raise MentorNetError(f"student {name!r} cannot be made: {said}") from error
    if not isinstance(student, nn.Module):
        raise MentorNetError(f"{name} must return a torch module, got {type(student).__name__}")
    return student


def find_student(name: str) -> Callable[..., object]:
    """Return the class or factory of the student of that name."""
    return load_factory(name, "student") if ":" in name else pick(STUDENTS, name, "student")


def own_encoder(name: str | None) -> Callable[[Any], Any] | None:
    """Return the function that fits the encoder of a student, if the student brings its own.

    It is the attribute `fit_encoder` of the student's class or factory: a function of raw samples
    that returns an `Encoder` and lines for the user, as `mentornet.data.encoding.fit_encoder` does.
    """
    return None if name is None else getattr(find_student(name), "fit_encoder", None)


def check_reads(name: str, kind: str) -> None:
    """Raise if the student of that name cannot read inputs of this kind.

    A student of ours reads images, unless its class says in `reads` that it reads vectors or
    tokens. One of the user's own may read anything.

    >>> check_reads("mlp", "vectors")
    """
    reads = "images" if ":" not in name else kind
    reads = getattr(find_student(name), "reads", reads)
    if reads != kind:
        fit = ", ".join(one for one, made in STUDENTS.items() if getattr(made, "reads", "") == kind)
        instead = f", or choose {fit}" if fit else ""
        raise MentorNetError(
            f"student {name!r} reads {reads}, but the data has {kind}; leave student out{instead}"
        )
