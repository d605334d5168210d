"""Labelled samples: what every dataset is read into."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from mentornet.data.encoding import Encoder, Raw
from mentornet.data.stream.streamed import Streamed
from mentornet.errors import MentorNetError, cut

__all__ = ["HeldOut", "Kind", "Samples", "Splits", "check_images", "check_inputs"]

Kind = Literal["images", "vectors", "tokens"]
"""What a student reads."""


@dataclass(frozen=True)
class Samples:
    """N samples with their labels.

    Attributes:
        inputs: what the student sees, `(N, …)`; or where to find it, if it does not fit in memory.
            Images are uint8 of shape `(N, C, H, W)`, vectors float32 of shape `(N, D)`, and tokens
            int32 ids of shape `(N, L)`, padded with 0.
        given_label: `(N,)`, int64 in 0 … K−1. It may be wrong.
        classes: the K class names.
        true_label: `(N,)`, int64 in 0 … K−1, if it is known.
        groups: the superclass of each class, `(K,)`, if the classes have one.
        paths: the user's name for each sample, N of them, if the samples came as files.
        raw: the samples as their file has them, if they were encoded.
        row: the number of each sample's row in its file, from 0, `(N,)`, if it has rows.
        vocabulary: the number of ids that tokens can have.
    """

    inputs: Tensor | Streamed
    given_label: Tensor
    classes: tuple[str, ...]
    true_label: Tensor | None = None
    groups: Tensor | None = None
    paths: tuple[str, ...] | None = None
    raw: Raw | None = None
    row: Tensor | None = None
    vocabulary: int = 0

    def __post_init__(self) -> None:
        if len(self.classes) < 2:
            raise MentorNetError(f"a classifier needs at least 2 classes, got {len(self.classes)}")
        for name in (*self.classes, *(self.paths or ())):
            if not name.isprintable() and not _is_utf8(name):
                raise MentorNetError(f"the name {cut(repr(name))} is not valid text; rename it")
        self._check_labels("given", self.given_label)
        if self.true_label is not None:
            self._check_labels("true", self.true_label)
        if self.paths is not None and len(self.paths) != len(self):
            raise MentorNetError(
                f"every sample needs one path: got {len(self.paths)} paths and {len(self)} samples"
            )

    def _check_labels(self, kind: str, label: Tensor) -> None:
        if label.shape != (len(self),):
            raise MentorNetError(
                f"every sample needs one {kind} label: "
                f"got {len(label)} labels and {len(self)} samples"
            )
        if label.dtype != torch.int64:
            raise MentorNetError(f"{kind} labels must be int64, got {label.dtype}")
        if len(label) and not 0 <= int(label.min()) <= int(label.max()) < len(self.classes):
            raise MentorNetError(
                f"{kind} labels must be in 0–{len(self.classes) - 1}, "
                f"got {int(label.min())} to {int(label.max())}"
            )

    def __len__(self) -> int:
        """N."""
        return len(self.inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample: (C, H, W) of an image, (D,) of a vector, (L,) of tokens."""
        return tuple(self.inputs.shape[1:])

    @property
    def kind(self) -> Kind:
        """What the inputs are: images, or else vectors if they are numbers, and tokens if ids."""
        if isinstance(self.inputs, Streamed) or len(self.inputs.shape) != 2:
            return "images"
        return "vectors" if self.inputs.is_floating_point() else "tokens"

    @property
    def channels(self) -> int:
        """What a student is made for: C of images, D of vectors, the number of ids of tokens."""
        return self.vocabulary if self.kind == "tokens" else self.shape[0]

    @property
    def streamed(self) -> bool:
        """Whether the inputs stay in files until a step needs them."""
        return isinstance(self.inputs, Streamed)

    @property
    def tensor(self) -> Tensor:
        """The inputs, `(N, …)`; an error if they are not in memory."""
        if isinstance(self.inputs, Streamed):
            raise MentorNetError("these samples are streamed, but here they must be in memory")
        return self.inputs

    def fingerprint(self) -> bytes:
        """A digest that changes with the inputs, the classes and the given labels."""
        content = hashlib.sha256("\n".join(self.classes).encode())
        if isinstance(self.inputs, Streamed):
            content.update(self.inputs.fingerprint())
        else:
            content.update(self.inputs.contiguous().numpy().data)
        content.update(self.given_label.contiguous().numpy().data)
        return content.digest()

    def rows(self, index: Tensor | slice) -> Samples:
        """The samples at `index`: a slice, whole numbers, or one boolean for each sample."""
        places = torch.arange(len(self))[index]
        paths = self.paths
        if paths is not None:
            paths = tuple(paths[place] for place in places.tolist())
        return replace(
            self,
            inputs=self.inputs[index],
            given_label=self.given_label[index],
            true_label=None if self.true_label is None else self.true_label[index],
            paths=paths,
            raw=None if self.raw is None else self.raw.at(places),
            row=None if self.row is None else self.row[index],
        )

    def relabelled(self, given_label: Tensor) -> Samples:
        """The same samples with other given labels.

        If the true labels were unknown, the labels that the samples had become the true ones.
        """
        true_label = self.given_label if self.true_label is None else self.true_label
        return replace(self, given_label=given_label, true_label=true_label)


def check_images(samples: Samples) -> None:
    """Raise if the samples are not images, uint8 of shape `(N, C, H, W)`."""
    inputs = samples.inputs
    if len(inputs.shape) != 4 or inputs.dtype != torch.uint8:
        raise MentorNetError(
            "images must be uint8 of shape (N, C, H, W), "
            f"got {inputs.dtype} of shape {tuple(inputs.shape)}"
        )


def check_inputs(samples: Samples) -> None:
    """Raise if a student could not read the samples: they are images, vectors or tokens."""
    inputs = samples.inputs
    if isinstance(inputs, Streamed) or samples.kind == "images":
        check_images(samples)
    elif samples.kind == "vectors":
        if inputs.dtype != torch.float32:
            raise MentorNetError(f"vectors must be float32, got {inputs.dtype}")
        bad = ~inputs.isfinite()
        if bad.any():
            row, column = bad.nonzero()[0].tolist()
            raise MentorNetError(
                f"vectors must be finite, got {inputs[row, column]:g} in place {column} of sample "
                f"{row}"
            )
    elif inputs.dtype not in (torch.int32, torch.int64):
        raise MentorNetError(f"tokens must be int32 or int64, got {inputs.dtype}")
    elif inputs.numel() and not 0 <= int(inputs.min()) <= int(inputs.max()) < samples.vocabulary:
        raise MentorNetError(
            f"tokens must be in 0–{samples.vocabulary - 1}, got {int(inputs.min())} to "
            f"{int(inputs.max())}"
        )


def _is_utf8(name: str) -> bool:
    """Whether a name can be written as UTF-8. The name of a file need not be."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class HeldOut(NamedTuple):
    """The labels of a part that was taken from the training samples, `(n,)`.

    Attributes:
        given_label: the labels as they came, as noisy as those that are trained on.
        true_label: the true labels, if they are known.
    """

    given_label: Tensor
    true_label: Tensor | None


@dataclass(frozen=True)
class Splits:
    """The parts of a dataset.

    Attributes:
        train: what the student learns from; its given labels may be noisy.
        test: what the student is evaluated on; its labels are as clean as they can be had.
        validation: what the best epoch is chosen by, if the data has such a part.
        notes: lines to tell the user, such as which samples were left out.
        further: other samples that the student is evaluated on too, by name.
        encoder: what the inputs were made with, if they came as texts, rows or vectors.
        held_out: the labels of those of these parts, by name, that did not come with the data but
            were taken from the training samples.
    """

    train: Samples
    test: Samples
    validation: Samples | None = None
    notes: tuple[str, ...] = ()
    further: Mapping[str, Samples] = field(default_factory=dict)
    encoder: Encoder | None = None
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = {"test": self.test, "validation": self.validation, **self.further}
        for name, part in parts.items():
            if part is not None and part.shape != self.train.shape:
                raise MentorNetError(
                    f"the {name} samples have the shape {part.shape}, but those to train on "
                    f"{self.train.shape}"
                )
