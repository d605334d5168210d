"""What the audit's page shows, said in plain arrays: no run, no network, no file is needed.

Shapes: N samples, K classes, E epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mentornet.errors import MentorNetError

__all__ = ["Contents", "Curve", "Fact", "Pictures", "Samples", "Surface"]

Pictures = Callable[[NDArray[np.int64]], NDArray[np.uint8]]
"""The pictures of the samples with these `index` values: `(n, C, H, W)`, uint8, C 1 or 3."""


@dataclass(frozen=True)
class Fact:
    """One headline figure.

    Attributes:
        label: what it is, in a few words.
        value: the figure, as it is to be read.
        note: one sentence on what it means, or nothing.
    """

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """One line of the training curves.

    Attributes:
        name: what the legend calls it.
        values: one value an epoch, `(E,)`; NaN leaves a gap.
        axis: what is counted; curves of one axis share a chart. `share` is shown in percent.
    """

    name: str
    values: NDArray[Any]
    axis: str = "share"

    def __post_init__(self) -> None:
        if np.ndim(self.values) != 1:
            raise MentorNetError(
                f"curve {self.name!r} must have one value an epoch, "
                f"got the shape {np.shape(self.values)}"
            )


@dataclass(frozen=True)
class Surface:
    """The mentor's weight over what it sees, at one point of training.

    Attributes:
        title: when, such as `at 21 %`.
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
class Samples:
    """What is known of N samples, one column each, `(N,)` if not said otherwise.

    Attributes:
        index: the id, unique, at least 0.
        given_label: in 0 … K−1, right or wrong.
        suggested_label: in 0 … K−1; −1 where there is none.
        suggested_probability: in [0, 1]; NaN where it is not known.
        quality: of the given label, in [0, 1]; 0 is surely wrong.
        is_issue: whether it is a suspect.
        is_ambiguous: whether two labels are nearly tied.
        mean_weight: mean v over training; NaN where it is not known.
        trajectory: the losses of every epoch, `(N, E)`; NaN where it was not seen.
        name: what the user calls the sample, any text; none where the index is all there is.
        true_label: in 0 … K−1, where the run knows it.
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
                    f"{column} must have one value a sample: "
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
    """All that the page shows.

    Attributes:
        title: the heading, any text.
        class_names: the K of them, any text.
        samples: what the gallery, the histogram and the confusion are made of.
        facts: headline figures, first things first.
        notes: what the reader should know first, such as that the run is unfinished.
        pictures: the sample's pictures, where they are images.
        texts: the row or text of each sample, N of them, where they are not.
        curves: of training, over the epochs.
        surfaces: the mentor's weights at its update points, in their order.
        footer: how the page was made: command, versions, conditions.
    """

    title: str
    class_names: Sequence[str]
    samples: Samples
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
            raise MentorNetError(f"one text a sample: got {len(self.texts)} for {count} samples")
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
