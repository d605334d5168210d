"""The number of each training sample, from the dataset through the collator into the batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import Dataset

from mentornet.errors import MentorNetError
from mentornet.weighting.evidence import IGNORE

__all__ = ["INDEX", "Collator", "IndexedCollator", "IndexedRows"]

INDEX = "sample_index"
"""The column with the number of the training sample."""

Collator = Callable[[list[Any]], Any]


class IndexedRows(Dataset[dict[str, Any]]):
    """The rows of a dataset with their numbers.

    Args:
        rows: the dataset; its rows are dicts, and its length is known.
    """

    def __init__(self, rows: Any) -> None:
        if not hasattr(rows, "__len__"):
            raise MentorNetError(
                "MentorTrainer needs a training set of known length, to remember every sample; "
                f"got {type(rows).__name__}"
            )
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return _numbered(self.rows[index], index)

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Return several rows, which some datasets read together."""
        together = getattr(self.rows, "__getitems__", None)
        rows = together(indices) if together else [self.rows[index] for index in indices]
        return [_numbered(row, index) for row, index in zip(rows, indices, strict=True)]


class IndexedCollator:
    """Another collator, which need not know of the column of numbers.

    It also warns of a sample all of whose labels are −100, and refuses packed samples.

    Args:
        collate: makes a batch from a list of rows without the column.
    """

    def __init__(self, collate: Collator) -> None:
        self.collate = collate
        self._warned = False

    def __call__(self, rows: list[Any]) -> Any:
        index = [row[INDEX] for row in rows]
        batch = self.collate([_without(row) for row in rows])
        batch[INDEX] = torch.tensor(index)
        labels = batch.get("labels")
        if isinstance(labels, torch.Tensor):
            self._check(labels, index)
        return batch

    def _check(self, labels: torch.Tensor, index: list[int]) -> None:
        if len(labels) != len(index):
            raise MentorNetError(
                f"the data collator has made {len(labels)} rows of {len(index)} samples; packed "
                "samples cannot be weighted one by one: use a collator that pads"
            )
        empty = (labels == IGNORE).view(len(labels), -1).all(1)
        if not self._warned and bool(empty.any()):
            self._warned = True
            warnings.warn(
                f"sample {index[int(empty.long().argmax())]} has no label: all of its labels are "
                f"{IGNORE}, so nothing is learned from it; is its answer cut off by the maximal "
                "length?",
                stacklevel=3,
            )


def _numbered(row: Any, index: int) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise MentorNetError(
            f"rows of the training set must be dicts, but row {index} is a {type(row).__name__}"
        )
    return {**row, INDEX: index}


def _without(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != INDEX}
