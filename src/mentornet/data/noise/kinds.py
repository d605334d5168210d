"""Corrupting labels, as a pure function of the labels and a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from mentornet.data.files.label_file import label_keys, read_labels
from mentornet.data.files.transition_file import read_transition
from mentornet.data.noise.transitions import (
    asymmetric,
    corrupt,
    instance,
    pairflip,
    symmetric,
    uniform,
)
from mentornet.data.samples import Samples
from mentornet.data.sets.places import data_folders
from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean

__all__ = [
    "NOISES",
    "HumanNoise",
    "LabelNoise",
    "Noise",
    "TransitionNoise",
    "asymmetric",
    "corrupt",
    "corrupt_images",
    "instance",
    "noise_rate",
    "pairflip",
    "parse_noise",
    "symmetric",
    "uniform",
]

NOISES = ("uniform", "symmetric", "pairflip", "asymmetric", "instance")


@dataclass(frozen=True)
class Noise:
    """A noise by name and rate, such as `uniform:0.4`.

    Args:
        name: one of `NOISES`.
        rate: p in [0, 1].
    """

    name: str
    rate: float

    def __post_init__(self) -> None:
        if self.name not in NOISES:
            known = (*NOISES, "transition", "labels")
            raise MentorNetError(f"unknown noise {self.name!r}; {did_you_mean(self.name, known)}")
        if not 0 <= self.rate <= 1:
            hint = f"; did you mean {self.rate / 100:g}?" if 1 < self.rate <= 100 else ""
            raise MentorNetError(f"noise rate must be in [0, 1], got {self.rate:g}{hint}")

    def __str__(self) -> str:
        short = f"{self.rate:g}"
        return f"{self.name}:{short if float(short) == self.rate else repr(self.rate)}"

    def given_label(self, images: Samples, *, seed: int) -> Tensor:
        """The labels of the images after the noise, `(N,)`."""
        label, classes = images.given_label, len(images.classes)
        if self.name == "instance":
            return instance(label, images.pixels, classes, self.rate, seed=seed)
        if self.name == "asymmetric":
            transition = asymmetric(images.classes, self.rate, images.groups)
        else:
            named = {"uniform": uniform, "symmetric": symmetric, "pairflip": pairflip}
            transition = named[self.name](classes, self.rate)
        return corrupt(label, transition, seed=seed)


@dataclass(frozen=True)
class TransitionNoise(Noise):
    """The noise of a transition matrix in a `.npy` or `.csv` file, `transition:PATH`.

    Args:
        path: of the file; T[i, j] in row i, column j. The rate is whatever it makes of it.
    """

    name: str = field(default="transition", init=False)
    rate: float = field(default=math.nan, init=False, repr=False, compare=False)
    path: Path

    def __post_init__(self) -> None:
        _check_suffix(self.path, (".npy", ".csv"), "a transition matrix")

    def __str__(self) -> str:
        return f"{self.name}:{self.path}"

    def given_label(self, images: Samples, *, seed: int) -> Tensor:
        transition, classes = read_transition(self.path), len(images.classes)
        if transition.shape != (classes, classes):
            rows, columns = transition.shape
            raise MentorNetError(
                f"{self.path} must be {classes} × {classes}, a row and a column for each class, "
                f"got {rows} × {columns}"
            )
        try:
            return corrupt(images.given_label, transition, seed=seed)
        except MentorNetError as error:
            raise MentorNetError(f"{self.path}: {error}") from None


@dataclass(frozen=True)
class LabelNoise(Noise):
    """Given labels from a file, as CIFAR-N has them: `labels:PATH` or `labels:PATH:KEY`.

    Args:
        path: of a `.npz`, `.npy` or `.pt` file that `read_labels` reads.
        key: which labels, where the file holds several.
    """

    name: str = field(default="labels", init=False)
    rate: float = field(default=math.nan, init=False, repr=False, compare=False)
    path: Path
    key: str | None = None

    def __post_init__(self) -> None:
        _check_suffix(self.path, (".npz", ".npy", ".pt"), "labels")

    def __str__(self) -> str:
        return f"{self.name}:{self.path}" + (f":{self.key}" if self.key else "")

    def given_label(self, images: Samples, *, seed: int) -> Tensor:
        del seed  # nothing is drawn
        labels, classes = read_labels(self.path, self.key), len(images.classes)
        if len(labels) != len(images):
            raise MentorNetError(
                f"{self.path} holds {len(labels)} labels for {len(images)} training images"
            )
        if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
            raise MentorNetError(
                f"{self.path}: labels must be in 0–{classes - 1}, "
                f"got {int(labels.min())} to {int(labels.max())}"
            )
        self._check_order(images)
        return labels

    def _check_order(self, images: Samples) -> None:
        """CIFAR-N's files tell the clean labels too, and with them whether they fit the images."""
        if "clean_label" not in label_keys(self.path):
            return
        clean = read_labels(self.path, "clean_label")
        if clean.shape == images.given_label.shape and noise_rate(clean, images.given_label) > 0.5:
            raise MentorNetError(
                f"{self.path} is for other images, or for another order of them: most of its "
                "clean labels are not those of the images"
            )


HUMAN_FILES = {10: "CIFAR-10_human", 100: "CIFAR-100_human"}
"""CIFAR-N's files by number of classes; `.pt` and `.npy` as released, or `.npz`."""


@dataclass(frozen=True)
class HumanNoise(Noise):
    """The labels that people gave to CIFAR, `human:KEY`, where CIFAR-N's file lies with the data.

    Args:
        key: such as `aggre_label`, `random_label1`, `worse_label` or `noisy_label`.
    """

    name: str = field(default="human", init=False)
    rate: float = field(default=math.nan, init=False, repr=False, compare=False)
    key: str

    def __post_init__(self) -> None:
        """Any key may be there."""

    def __str__(self) -> str:
        return f"{self.name}:{self.key}"

    def given_label(self, images: Samples, *, seed: int) -> Tensor:
        stem = HUMAN_FILES.get(len(images.classes))
        if stem is None:
            raise MentorNetError(
                f"{self} is for CIFAR-10 and CIFAR-100, not for {len(images.classes)} classes"
            )
        places = data_folders()
        for place in places:
            for path in sorted(place.glob(f"{stem}*")):
                if path.suffix in (".npz", ".npy", ".pt"):
                    return LabelNoise(path, self.key).given_label(images, seed=seed)
        raise MentorNetError(
            f"{self} needs CIFAR-N's file {stem}.pt in {' or '.join(map(str, places))}"
        )


def parse_noise(text: str) -> Noise:
    """The noise that a word such as `uniform:0.4` or `transition:matrix.csv` stands for.

    In `labels:PATH:KEY` the key is what follows the last colon, unless all of it is a file.

    >>> parse_noise("symmetric:0.2")
    Noise(name='symmetric', rate=0.2)
    >>> parse_noise("labels:CIFAR-10_human.pt:aggre_label").key
    'aggre_label'
    """
    name, _, argument = text.partition(":")
    if name == "transition" and argument:
        return TransitionNoise(Path(argument))
    if name == "human" and argument:
        return HumanNoise(argument)
    if name == "labels" and argument:
        path, _, key = argument.rpartition(":")
        if not path or "/" in key or "\\" in key or Path(argument).expanduser().is_file():
            return LabelNoise(Path(argument))
        return LabelNoise(Path(path), key or None)
    try:
        rate = float(argument)
    except ValueError:
        raise MentorNetError(
            f"noise must look like uniform:0.4, got {text!r}; "
            "transition:FILE and labels:FILE:KEY take theirs from a file, human:KEY from CIFAR-N's"
        ) from None
    return Noise(name, rate)


def corrupt_images(images: Samples, noise: Noise, *, seed: int) -> Samples:
    """The same images with their labels corrupted; the labels they had count as true."""
    return images.relabelled(noise.given_label(images, seed=seed))


def noise_rate(given_label: Tensor, true_label: Tensor) -> float:
    """The share of given labels that are wrong: the rate that really came out."""
    return (given_label != true_label).double().mean().item()


def _check_suffix(path: Path, known: tuple[str, ...], what: str) -> None:
    if path.suffix not in known:
        raise MentorNetError(f"{what} must be in a {' or '.join(known)} file, got {path}")
