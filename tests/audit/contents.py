"""Made-up audits: what a run might have found, without a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mentornet.audit import Contents, Curve, Fact, Pictures, SampleTable, Surface

CLASSES = ("cat", "dog", "frog", "ship")


def some_samples(
    count: int = 60, *, suspects: int = 20, classes: int = 4, epochs: int = 6, **changed: Any
) -> SampleTable:
    """`count` samples, of which the first `suspects` are, in rising quality; ids are 3 apart.

    Suspect n was given class n % K and is suggested the next one; two of the others are near-ties.
    """
    place = np.arange(count)
    issue = place < suspects
    given = place % classes
    time = np.linspace(0, 1, epochs)
    wrong = 2.5 - 0.8 * time[None] + 0.2 * np.sin(place)[:, None]
    right = 0.2 + 2 * np.exp(-5 * time)[None] + 0.1 * np.cos(place)[:, None]
    columns: dict[str, Any] = {
        "index": 3 * place,
        "given_label": given,
        "suggested_label": np.where(issue, (given + 1) % classes, given),
        "suggested_probability": np.where(issue, 0.95 - 0.3 * place / count, 0.8),
        "quality": np.linspace(0.01, 0.99, count),
        "is_issue": issue,
        "is_ambiguous": (place == suspects) | (place == suspects + 1),
        "mean_weight": np.where(issue, 0.1, 0.9),
        "trajectory": np.where(issue[:, None], wrong, right).astype(np.float32),
        "name": tuple(f"train/{given[n]}/picture-{n:05d}.png" for n in range(count)),
    }
    return SampleTable(**{**columns, **changed})


def plain_pictures(side: int = 32, channels: int = 3) -> Pictures:
    """Pictures of one colour each, which tells the sample's index: see `colour_of`."""

    def read(indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        colours = np.array([colour_of(index)[:channels] for index in indices.tolist()], np.uint8)
        return np.broadcast_to(
            colours.reshape(-1, channels, 1, 1), (len(indices), channels, side, side)
        ).copy()

    return read


def colour_of(index: int) -> tuple[int, int, int]:
    return (37 * index % 200 + 30, 91 * index % 200 + 30, 53 * index % 200 + 30)


def some_contents(
    samples: SampleTable | None = None, *, classes: Sequence[str] = CLASSES, **changed: Any
) -> Contents:
    """A small page with everything on it."""
    losses, differences = np.linspace(0, 5, 12), np.linspace(-2, 3, 9)
    weights = np.clip(1 - (differences[:, None] + 0 * losses[None]), 0, 1)
    parts: dict[str, Any] = {
        "title": "digits, uniform:0.4",
        "class_names": classes,
        "samples": some_samples() if samples is None else samples,
        "facts": (
            Fact("Samples", "60", "of 4 classes"),
            Fact("Suspect labels", "20", "33 % of all"),
        ),
        "pictures": plain_pictures(),
        "curves": (
            Curve("test accuracy", np.array([0.3, 0.6, 0.8, 0.85, 0.9, 0.91])),
            Curve("mean weight", np.array([1, np.nan, 0.7, 0.65, 0.62, 0.62])),
            Curve("loss", np.array([2.3, 1.7, 1.1, 0.9, 0.8, 0.8]), axis="loss"),
        ),
        "surfaces": (
            Surface("at 21 %", losses, differences, weights),
            Surface("at 75 %", losses, differences, weights**2),
        ),
    }
    return Contents(**{**parts, **changed})
