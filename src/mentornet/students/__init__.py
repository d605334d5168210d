"""Students: the classifiers that are trained, one network per file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from mentornet.errors import MentorNetError, first_line
from mentornet.names import pick
from mentornet.plugins import load_factory
from mentornet.randomness import seeded
from mentornet.students.body_and_head import BodyAndHead, Head, cut_in_two
from mentornet.students.checking import check_student, initialised, is_frozen
from mentornet.students.fast import FastStudent
from mentornet.students.hugging_face import HuggingFaceImages, HuggingFaceTexts, hugging_face
from mentornet.students.inception import SmallInception
from mentornet.students.inception_resnet import InceptionResNetV2
from mentornet.students.mlp import MLP
from mentornet.students.ngrams import NGramStudent
from mentornet.students.pair import Pair, answering
from mentornet.students.preprocessing import Preprocessing, TokenInputs, pretrained
from mentornet.students.resnet import ResNet
from mentornet.students.small_cnn import SmallCNN
from mentornet.students.synced_norm import synced
from mentornet.students.timm_models import TimmImages
from mentornet.students.wide_resnet import WideResNet, resnet101

__all__ = [
    "MLP",
    "PAPER_STUDENTS",
    "SOURCES",
    "STUDENTS",
    "BodyAndHead",
    "FastStudent",
    "Head",
    "HuggingFaceImages",
    "HuggingFaceTexts",
    "InceptionResNetV2",
    "NGramStudent",
    "Pair",
    "Preprocessing",
    "ResNet",
    "SmallCNN",
    "SmallInception",
    "TokenInputs",
    "WideResNet",
    "answering",
    "check_reads",
    "check_student",
    "find_student",
    "initialised",
    "is_frozen",
    "make_from",
    "make_student",
    "own_encoder",
    "preprocessing_of",
    "pretrained",
    "pretrained_student",
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

SOURCES: dict[str, Callable[[str], Callable[..., nn.Module]]] = {
    "hf": hugging_face,
    "timm": TimmImages,
}
"""Where pretrained students come from, by the prefix of their names."""

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
    return make_from(
        factory, f"student {name!r}", seed, channels=channels, classes=classes, **sizes
    )


def make_from(
    factory: Callable[..., object], name: str, seed: int = 0, **arguments: float
) -> nn.Module:
    """Return what a factory makes of these arguments, which must be a network."""
    try:
        inspect.signature(factory).bind(**arguments)
    except TypeError as error:
        raise MentorNetError(f"{name} cannot be made like that: {error}") from None
    with seeded(seed):
        try:
            student = factory(**arguments)
        except MentorNetError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {first_line(error)}"
            raise MentorNetError(f"{name} cannot be made: {said}") from error
    if not isinstance(student, nn.Module):
        raise MentorNetError(f"{name} must return a torch module, got {type(student).__name__}")
    return student


def find_student(name: str) -> Callable[..., object]:
    """Return the class or factory of the student of that name.

    A name is one of `STUDENTS`; `hf:FOLDER` or `hf:NAME` for a classifier of Hugging Face
    transformers; `timm:NAME` for a network of timm; or `module:factory` for one of your own.
    """
    kind, colon, source = name.partition(":")
    if not colon:
        return pick(STUDENTS, name, "student")
    return SOURCES[kind](source) if kind in SOURCES else load_factory(name, "student")


def preprocessing_of(name: str) -> Preprocessing | TokenInputs | None:
    """Return how a pretrained student's inputs are prepared; None if it is trained from scratch."""
    found = getattr(find_student(name), "preprocessing", None)
    if found is not None and not isinstance(found, Preprocessing | TokenInputs):
        raise MentorNetError(
            f"the preprocessing of {name} must be a Preprocessing, got {type(found).__name__}; "
            "mark the factory with mentornet.students.pretrained"
        )
    return found


def pretrained_student(
    factory: Callable[..., object],
    preprocessing: Preprocessing | TokenInputs,
    *,
    classes: int,
    frozen: bool,
    seed: int = 0,
    name: str = "the student",
    sizes: Mapping[str, float] | None = None,
) -> BodyAndHead:
    """Return a pretrained network with a new last layer.

    Args:
        factory: makes the network.
        preprocessing: says what its inputs are.
        classes: K.
        frozen: whether only the new layer will be trained.
        seed: the seed of the new layer.
        name: what messages call the network.
        sizes: sizes that the user gives.
    """
    network = make_from(factory, name, seed, channels=3, classes=classes, **(sizes or {}))
    with seeded(seed):
        student = cut_in_two(network, preprocessing.example(), classes, frozen=frozen, name=name)
    student.preprocessing = preprocessing
    return student


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
