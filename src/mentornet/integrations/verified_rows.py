"""Read which rows of a table somebody has checked, and what was found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["known_classes"]


def known_classes(
    clean_index: Any, true_y: Any, given: NDArray[np.int64], classes: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the number of each sample's true class, `(N,)`; −1 where nobody has looked.

    Args:
        clean_index: rows whose given label is correct: row numbers, or a boolean column `(N,)`.
        true_y: the true labels, `(N,)`; None or NaN where nobody has looked.
        given: the numbers of the given labels, `(N,)`.
        classes: the labels by number.
    """
    known = np.full(len(given), -1, np.int64)
    rows = _rows(clean_index, len(given))
    known[rows] = given[rows]
    if true_y is None:
        return known
    column = np.asarray(true_y, dtype=object)
    if column.shape != given.shape:
        raise ValueError(
            f"true_y must have one entry for each of the {len(given)} samples, got shape "
            f"{column.shape}"
        )
    number = {label: place for place, label in enumerate(classes.tolist())}
    for row, label in enumerate(column.tolist()):
        if label is None or label != label:  # NaN is not equal to itself
            continue
        if label not in number:
            raise ValueError(f"true_y has {label!r} in row {row}, but no sample has that label")
        known[row] = number[label]
    return known


def _rows(clean_index: Any, count: int) -> NDArray[np.int64]:
    """Return row numbers, from row numbers or from a boolean column `(N,)`."""
    if clean_index is None:
        return np.empty(0, np.int64)
    column = np.asarray(clean_index)
    if column.dtype == bool:
        if column.shape != (count,):
            raise ValueError(
                f"clean_index as a boolean column must have one entry for each of the {count} "
                f"samples, got shape {column.shape}"
            )
        return np.flatnonzero(column)
    column = column.astype(np.int64)
    odd = column[(column < 0) | (column >= count)]
    if len(odd):
        raise ValueError(f"clean_index must be in 0–{count - 1}, got {odd[0]}")
    return column
