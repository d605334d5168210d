"""The setting `noise`: its text is parsed here, and noise that comes from files is read here.

Noise that is drawn (`uniform:0.4`) is a `Noise` of `data.noise`. The other kinds need a file:
`transition:FILE`, `labels:FILE:KEY` and `human:KEY`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from mentornet.data.files.label_file import label_keys, read_labels
from mentornet.data.files.transition_file import read_transition
from mentornet.data.noise.kinds import Noise, noise_rate
from mentornet.data.noise.transitions import corrupt
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.cifar_classes import coarse
from mentornet.data.sets.places import data_folders
from mentornet.errors import MentorNetError, cut

__all__ = [
    "AnyNoise",
    "HumanNoise",
    "LabelNoise",
    "TransitionNoise",
    "corrupt_samples",
    "corrupt_splits",
    "parse_noise",
]

_MATRICES, _LABELS = (".npy", ".csv"), (".npz", ".npy", ".pt")  # suffixes of the files


@dataclass(frozen=True)
class TransitionNoise:
    """Noise drawn from a transition matrix in a file: `transition:FILE`.

    Args:
        path: a `.npy` or `.csv` file with T[i, j] in row i, column j.
    """

    path: Path

    def __post_init__(self) -> None:
        _check_suffix(self.path, _MATRICES, "a transition matrix")

    def __str__(self) -> str:
        return f"transition:{self.path}"

    def given_label(self, samples: Samples, *, seed: int) -> Tensor:
        """The labels of the samples after the noise, `(N,)`."""
        transition = read_transition(self.path, len(samples.classes))
        try:
            return corrupt(samples.given_label, transition, seed=seed)
        except MentorNetError as error:
            raise MentorNetError(f"{self.path}: {error}") from None


@dataclass(frozen=True)
class LabelNoise:
    """Given labels from a file, in the form of CIFAR-N: `labels:FILE` or `labels:FILE:KEY`.

    Args:
        path: a `.npz`, `.npy` or `.pt` file that `read_labels` reads.
        key: the name of the labels, if the file holds several.
    """

    path: Path
    key: str | None = None

    def __post_init__(self) -> None:
        _check_suffix(self.path, _LABELS, "labels of noise")

    def __str__(self) -> str:
        return f"labels:{self.path}" + (f":{self.key}" if self.key else "")

    def given_label(self, samples: Samples, *, seed: int) -> Tensor:
        """The labels in the file, `(N,)`."""
        del seed  # nothing is drawn
        classes = len(samples.classes)
        labels = read_labels(self.path, self.key, count=len(samples))
        if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
            raise MentorNetError(
                f"{self.path}: labels must be in 0–{classes - 1}, "
                f"got {int(labels.min())} to {int(labels.max())}"
            )
        if _is_coarse(self.key):
            return self._same_numbers(labels, samples)
        self._check_order(samples)
        return labels

    def _check_order(self, samples: Samples) -> None:
        """Raise if the clean labels, which the files of CIFAR-N hold too, do not fit."""
        if "clean_label" not in label_keys(self.path):
            return
        clean = read_labels(self.path, "clean_label", count=len(samples))
        if noise_rate(clean, samples.given_label) > 0.5:
            raise MentorNetError(self._other_samples)

    def _same_numbers(self, labels: Tensor, samples: Samples) -> Tensor:
        """The labels with the numbers that the samples have for the superclasses.

        The clean labels of the file show which of its numbers means which superclass.
        """
        clean = read_labels(self.path, "clean_coarse_label", count=len(samples))
        pairs = torch.stack([clean, samples.given_label], 1).unique(dim=0)
        theirs, ours = pairs.unbind(1)
        if len(theirs.unique()) < len(pairs) or len(ours.unique()) < len(pairs):
            raise MentorNetError(self._other_samples)
        number = torch.arange(len(samples.classes))
        number[theirs] = ours
        return number[labels]

    @property
    def _other_samples(self) -> str:
        return (
            f"{self.path} is for other samples, or lists them in another order: most of its "
            "clean labels differ from those of the data"
        )


HUMAN_FILES = {10: "CIFAR-10_human", 100: "CIFAR-100_human", 20: "CIFAR-100_human"}
"""The files of CIFAR-N by number of classes: `.pt` and `.npy` as released, or `.npz`."""


def _is_coarse(key: str | None) -> bool:
    """Whether the labels are superclasses: `noisy_coarse_label` or `clean_coarse_label`."""
    return key is not None and key.endswith("_coarse_label")


@dataclass(frozen=True)
class HumanNoise:
    """The labels that people gave to CIFAR, from the file of CIFAR-N beside the data: `human:KEY`.

    Args:
        key: `aggre_label`, `random_label1` to `random_label3` or `worse_label` for CIFAR-10;
            `noisy_label` or `noisy_coarse_label` for CIFAR-100, the latter with its superclasses
            as classes (`corrupt_splits` makes them so); or the clean labels.
    """

    key: str

    def __str__(self) -> str:
        return f"human:{self.key}"

    def given_label(self, samples: Samples, *, seed: int) -> Tensor:
        """The labels in the file of CIFAR-N, `(N,)`."""
        stem = HUMAN_FILES.get(len(samples.classes))
        if stem is None:
            raise MentorNetError(
                f"{self} is for CIFAR-10 and CIFAR-100, not for {len(samples.classes)} classes"
            )
        places = data_folders()
        for place in places:
            for path in sorted(place.glob(f"{stem}*")):
                if path.suffix in _LABELS:
                    return LabelNoise(path, self.key).given_label(samples, seed=seed)
        raise MentorNetError(
            f"{self} needs the file {stem}.pt of CIFAR-N in {' or '.join(map(str, places))}"
        )


AnyNoise = Noise | TransitionNoise | LabelNoise | HumanNoise
"""What the setting `noise` may name; each gives labels with `given_label(samples, seed=…)`."""


def parse_noise(text: str) -> AnyNoise:
    """The noise that a text such as `uniform:0.4` or `transition:matrix.csv` names.

    In `labels:FILE:KEY` the key is what follows the last colon, unless the whole text after
    `labels:` is a file.

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
            f"noise must look like uniform:0.4, got {cut(text)!r}; transition:FILE and "
            "labels:FILE:KEY read a file, and human:KEY reads the file of CIFAR-N"
        ) from None
    return Noise(name, rate)


def corrupt_samples(samples: Samples, noise: AnyNoise, *, seed: int) -> Samples:
    """The same samples with corrupted labels.

    If the true labels were unknown, the labels that the samples had become the true ones.
    """
    return samples.relabelled(noise.given_label(samples, seed=seed))


def corrupt_splits(splits: Splits, noise: AnyNoise, *, seed: int) -> Splits:
    """The same splits with corrupted training labels.

    Labels of superclasses, as CIFAR-100N has them, make superclasses the classes of all parts.
    """
    if isinstance(noise, HumanNoise) and _is_coarse(noise.key):
        splits = coarse(splits)
    return replace(splits, train=corrupt_samples(splits.train, noise, seed=seed))


def _check_suffix(path: Path, known: tuple[str, ...], what: str) -> None:
    if path.suffix not in known:
        raise MentorNetError(f"{what} must be in a {' or '.join(known)} file, got {path}")
