"""Labelled images: what every dataset is read into."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from mentornet.data.stream.streamed import Streamed
from mentornet.errors import MentorNetError

__all__ = ["Samples", "Splits"]


@dataclass(frozen=True)
class Samples:
    """N images with their labels.

    Attributes:
        source: the pixels, `(N, C, H, W)`, uint8; or where to find them, where they do not fit in
            memory.
        given_label: `(N,)`, int64 in 0 … K−1, right or wrong.
        classes: the K class names.
        true_label: `(N,)`, where it is known.
        groups: the superclass of each class, `(K,)`, where classes have one.
        paths: what the user calls each image, N of them, where they came as files.
    """

    source: Tensor | Streamed
    given_label: Tensor
    classes: tuple[str, ...]
    true_label: Tensor | None = None
    groups: Tensor | None = None
    paths: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.source.shape) != 4 or self.source.dtype != torch.uint8:
            raise MentorNetError(
                "pixels must be uint8 of shape (N, C, H, W), "
                f"got {self.source.dtype} of shape {tuple(self.source.shape)}"
            )
        if len(self.classes) < 2:
            raise MentorNetError(f"a classifier needs at least 2 classes, got {len(self.classes)}")
        for name in (*self.classes, *(self.paths or ())):
            if not name.isprintable() and not _speakable(name):
                raise MentorNetError(f"the name {name!r} is not valid text; rename it")
        for name, label in (("given", self.given_label), ("true", self.true_label)):
            if label is None:
                continue
            if label.shape != (len(self),):
                raise MentorNetError(
                    f"one {name} label an image: got {len(label)} labels and {len(self)} images"
                )
            if label.dtype != torch.int64:
                raise MentorNetError(f"{name} labels must be int64, got {label.dtype}")
            if len(label) and not 0 <= int(label.min()) <= int(label.max()) < len(self.classes):
                raise MentorNetError(
                    f"{name} labels must be in 0–{len(self.classes) - 1}, "
                    f"got {int(label.min())} to {int(label.max())}"
                )
        if self.paths is not None and len(self.paths) != len(self):
            raise MentorNetError(
                f"one path an image: got {len(self.paths)} paths and {len(self)} images"
            )

    def __len__(self) -> int:
        """N."""
        return len(self.source)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W)."""
        _, channels, height, width = self.source.shape
        return channels, height, width

    @property
    def streamed(self) -> bool:
        """Whether the pixels stay in files until a step needs them."""
        return isinstance(self.source, Streamed)

    @property
    def pixels(self) -> Tensor:
        """`(N, C, H, W)`, uint8; an error where they are not in memory."""
        if isinstance(self.source, Streamed):
            raise MentorNetError("these images are streamed, and here they must be in memory")
        return self.source

    def fingerprint(self) -> bytes:
        """Changes with the images, their classes and their given labels."""
        content = hashlib.sha256("\n".join(self.classes).encode())
        if isinstance(self.source, Streamed):
            content.update(self.source.fingerprint())
        else:
            content.update(self.source.contiguous().numpy().data)
        content.update(self.given_label.contiguous().numpy().data)
        return content.digest()

    def rows(self, index: Tensor | slice) -> Samples:
        """The images at `index`: a slice, whole numbers, or one bool an image."""
        paths = self.paths
        if paths is not None:
            paths = tuple(paths[place] for place in torch.arange(len(self))[index].tolist())
        return replace(
            self,
            source=self.source[index],
            given_label=self.given_label[index],
            true_label=None if self.true_label is None else self.true_label[index],
            paths=paths,
        )

    def relabelled(self, given_label: Tensor) -> Samples:
        """The same images with other given labels; the labels they had count as true."""
        true_label = self.given_label if self.true_label is None else self.true_label
        return replace(self, given_label=given_label, true_label=true_label)


def _speakable(name: str) -> bool:
    """Whether a name can be written as UTF-8, which a file's name need not be."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Splits:
    """The parts of a dataset.

    Attributes:
        train: what the student learns from; its given labels may be noisy.
        test: what it is judged on, clean as far as anyone knows.
        validation: what choices may be made on, where the data has such a part.
        notes: lines worth telling the user, such as images that were left out.
        further: other images that the student is judged on too, by name.
    """

    train: Samples
    test: Samples
    validation: Samples | None = None
    notes: tuple[str, ...] = ()
    further: Mapping[str, Samples] = field(default_factory=dict)
