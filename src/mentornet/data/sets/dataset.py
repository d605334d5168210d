"""What is known of a named dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mentornet.data.options import LoadOptions
from mentornet.data.samples import Splits

__all__ = ["Dataset"]


@dataclass(frozen=True)
class Dataset:
    """A dataset that users call by name.

    Attributes:
        name: what users call it.
        about: one line: a sentence that says what it is, then where its files are searched for.
        load: reads the dataset.
        shape: of one sample, (C, H, W).
        classes: number of classes, K.
        count: number of training samples, N.
        has_clean_labels: whether its labels count as true, as they are shipped.
        streamed: whether the samples stay in their files until a step needs them.
        options: names of the `LoadOptions` that have a meaning for it.
    """

    name: str
    about: str
    load: Callable[[LoadOptions], Splits]
    shape: tuple[int, int, int]
    classes: int
    count: int
    has_clean_labels: bool
    streamed: bool = False
    options: tuple[str, ...] = ()
