"""What the audit's page shows, as plain arrays: no run, no network and no file is needed.

Shapes: N samples, K classes, E epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mentornet.errors import MentorNetError

__all__ = ["Contents", "Curve", "Fact", "Pictures", "SampleTable", "Surface"]

Pictures = Callable[[NDArray[np.int64]], NDArray[np.uint8]]
"""A function from the index of n samples to their pictures, uint8 `(n, C, H, W)`, C 1 or 3."""


@dataclass(frozen=True)
class Fact:
    """One headline number.

    Attributes:
        label: what the number is, in a few words.
        value: the number, formatted.
        note: one sentence on what it means, or nothing.
    """

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """One line of the training curves.

    Attributes:
        name: its name in the legend.
        values: one value for each epoch, `(E,)`; NaN leaves a gap.
        axis: the unit; curves with one unit share a chart. `share` is shown in percent.
    """

    name: str
    values: NDArray[Any]
    axis: str = "share"

    def __post_init__(self) -> None:
        if np.ndim(self.values) != 1:
            raise MentorNetError(
                f"curve {self.name!r} must have one value for each epoch, "
                f"got the shape {np.shape(self.values)}"
            )


@dataclass(frozen=True)
class Surface:
    """The weights of the mentor over loss and loss difference, at one point of training.

    Attributes:
        title: the point of training, such as `at 21 %`.
        losses: the axis of ℓ, `(A,)`, rising.
        differences: the axis of ℓ − ℓ_pt, `(D,)`, rising.
        weights: v in [0, 1], `(D, A)`.
    """

    title: str
    losses: NDArray[Any]
    differences: NDArray[Any]
    weights: NDArray[Any]

    def __post_init__(self) -> None:
        expected = (len(self.differences), len(self.losses))
        if np.shape(self.weights) != expected or 0 in expected:
            raise MentorNetError(
                f"the weights of surface {self.title!r} must have the shape "
                f"(differences, losses), here {expected}, got {np.shape(self.weights)}"
            )


@dataclass(frozen=True)
class SampleTable:
    """What is known of N samples, in columns; each is `(N,)` unless it says otherwise.

    Attributes:
        index: the number of the sample, unique, at least 0.
        given_label: its given label, in 0 … K−1.
        suggested_label: its suggested label, in 0 … K−1; −1 for none.
        suggested_probability: the probability of the suggested label, in [0, 1]; NaN if unknown.
        quality: the quality of the given label, in [0, 1]; 0 is surely wrong.
        is_issue: whether the label is suspect.
        is_ambiguous: whether two labels are nearly tied.
        mean_weight: the mean weight v over training; NaN if unknown.
        trajectory: the loss in every epoch, `(N, E)`; NaN if the epoch did not see the sample.
        name: the name of the sample, any text; None if samples have no names.
        true_label: its true label, in 0 … K−1, if it is known.
    """

    index: NDArray[np.int64]
    given_label: NDArray[np.int64]
    suggested_label: NDArray[np.int64]
    suggested_probability: NDArray[Any]
    quality: NDArray[Any]
    is_issue: NDArray[np.bool_]
    is_ambiguous: NDArray[np.bool_]
    mean_weight: NDArray[Any]
    trajectory: NDArray[Any]
    name: Sequence[str] | None = None
    true_label: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for column in (
            "given_label", "suggested_label", "suggested_probability", "quality", "is_issue",
            "is_ambiguous", "mean_weight", "trajectory", "name", "true_label",
        ):  # fmt: skip
            values = getattr(self, column)
            if values is not None and len(values) != len(self):
                raise MentorNetError(
                    f"{column} must have one value for each sample: "
                    f"got {len(values)} for {len(self)} samples"
                )
        if np.ndim(self.trajectory) != 2:
            raise MentorNetError(
                f"trajectory must have the shape (N, E), got {np.shape(self.trajectory)}"
            )
        if len(self) and int(np.min(self.index)) < 0:
            raise MentorNetError(f"an index must be at least 0, got {int(np.min(self.index))}")
        if len(np.unique(self.index)) < len(self):
            raise MentorNetError("index must not name a sample twice")
        for column in ("quality", "suggested_probability"):
            values = np.asarray(getattr(self, column), np.float64)
            known = values if column == "quality" else values[~np.isnan(values)]
            if not bool(np.all((known >= 0) & (known <= 1))):
                raise MentorNetError(f"{column} must be in [0, 1], got {_first_outside(known)}")

    def __len__(self) -> int:
        """N."""
        return len(self.index)


@dataclass(frozen=True)
class Contents:
    """Everything that the page shows.

    Attributes:
        title: the heading, any text.
        class_names: the names of the K classes, any text.
        samples: the samples of the gallery, the histogram and the confusion.
        facts: the headline numbers, the most important one first.
        notes: what the reader should know first, such as that the run is unfinished.
        pictures: the pictures of the samples, if they are images.
        texts: N texts to show in place of pictures, if they are not.
        curves: the training curves.
        surfaces: the mentor's weights at its updates, in order.
        footer: how the page was made: command, versions, conditions.
    """

    title: str
    class_names: Sequence[str]
    samples: SampleTable
    facts: Sequence[Fact] = ()
    notes: Sequence[str] = ()
    pictures: Pictures | None = None
    texts: Sequence[str] | None = None
    curves: Sequence[Curve] = ()
    surfaces: Sequence[Surface] = ()
    footer: str = ""

    def __post_init__(self) -> None:
        count, classes = len(self.samples), len(self.class_names)
        if self.texts is not None and len(self.texts) != count:
            raise MentorNetError(
                f"texts must have one text for each sample: got {len(self.texts)} for {count}"
            )
        if len(set(self.class_names)) < classes:
            raise MentorNetError("class names must differ from each other")
        for column, lowest in (("given_label", 0), ("suggested_label", -1), ("true_label", 0)):
            label = getattr(self.samples, column)
            if label is None or not count:
                continue
            if not lowest <= int(np.min(label)) <= int(np.max(label)) < classes:
                raise MentorNetError(
                    f"{column} must be in {lowest} … {classes - 1} for {classes} classes, "
                    f"got {int(np.min(label))} to {int(np.max(label))}"
                )


def _first_outside(values: NDArray[np.float64]) -> float:
    return float(values[~((values >= 0) & (values <= 1))][0])
