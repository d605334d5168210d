"""What a run knows of each label, from any place where it is kept.

Shapes: N samples, E epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.errors import MentorNetError, cut
from mentornet.records import Records, columns_of, firmness, log_odds, mean_margin, read_records

__all__ = ["RunEvidence", "by_weights", "evidence_of"]

_CLASSES = 1 << 20  # class numbers are below this
_SURE = 1e-6  # the smallest distance of a probability from 0 and 1

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class RunEvidence:
    """What a student has shown of N samples, one value each unless it says otherwise.

    Attributes:
        index: the number of each sample.
        given_label: its class number in the data, right or wrong.
        margin: how far the given label was ahead of the other classes, as `Records` averages it;
            if only losses are known, its log-odds. NaN if the sample was never seen.
        suggested_label: the class that the student predicted most often of late, −1 if unknown.
        support: the share of late predictions that agree, NaN if unknown.
        mean_weight: the mean weight v, NaN if unknown.
        trajectory: the loss in every epoch, `(N, E)`; E may be 0.
        learned_epoch: the first epoch that predicted the given label, 0 if none did. (A
            `MentorLoss`, which knows no epochs, counts in percent of training.)
        forgotten: how often the given label was predicted and then was not.
        path: the name of each sample, if it has one.
        true_label: its true class number, if it is known.
        row: the number of its row in the file of the data, from 0, if it has one.
        text: its text, if it is one.
        held_out: whether the sample was not trained on, but judged by what the trained student
            predicts; None if that is so for none.
        sample: if these are parts of samples, such as tokens: the number of the sample of each.
        place: the place of each part in its sample, from 0.
    """

    index: Integers
    given_label: Integers
    margin: Floats
    suggested_label: Integers
    support: Floats
    mean_weight: Floats
    trajectory: Floats
    learned_epoch: Integers
    forgotten: Integers
    path: Sequence[str] | None = None
    true_label: Integers | None = None
    row: Integers | None = None
    text: Sequence[str] | None = None
    held_out: NDArray[np.bool_] | None = None
    sample: Integers | None = None
    place: Integers | None = None

    def __len__(self) -> int:
        """N."""
        return len(self.index)

    def rows(self, chosen: NDArray[np.bool_]) -> RunEvidence:
        """Return the evidence of the chosen samples only; `chosen` is `(N,)`."""
        parts: dict[str, Any] = {}
        for name, column in vars(self).items():
            if name in ("path", "text") and column is not None:
                parts[name] = [cell for cell, wanted in zip(column, chosen, strict=True) if wanted]
            elif column is not None:
                parts[name] = column[chosen]
        return replace(self, **parts)


def evidence_of(records: Any) -> RunEvidence:
    """Read the evidence from records.

    Args:
        records: the path of a run's `records.parquet`, the `Records` of a `MentorLoss`, or any
            table of columns (a data frame or a dict). It needs `given_label`, and `loss` (a list
            for each sample, one loss an epoch), `margin` or `mean_loss`. It may also have `index`,
            `path`, `true_label`, `suggested_label` or `predicted_label`, `support`, `mean_weight`,
            `learned_epoch` and `forgotten`.
    """
    if isinstance(records, Records):
        return _from_columns(_seen_columns(records))
    if isinstance(records, str | Path):
        records = read_records(Path(records))
    return _from_columns({f"{name}": records[name] for name in records})


def by_weights(evidence: RunEvidence) -> RunEvidence:
    """Return the evidence of a method that `judges`: the margin is log v/(1 − v), v the weight.

    The student of such a method was trained on the labels that it predicts, so what it says of them
    is worth less than v. Where no weight is known yet, the margin stays.
    """
    v = np.clip(evidence.mean_weight.astype(np.float64), _SURE, 1 - _SURE)
    return replace(evidence, margin=np.where(np.isnan(v), evidence.margin, np.log(v / (1 - v))))


def _seen_columns(records: Records) -> dict[str, Any]:
    """Return the columns of the samples that were trained on."""
    columns = columns_of(records.state_dict())
    if "given_label" not in columns:
        raise MentorNetError("these records do not keep the given labels: Records(…, labels=True)")
    seen = columns["given_label"] >= 0
    if not seen.any():
        raise MentorNetError("no sample has been trained on yet, so there is nothing to audit")
    columns["index"] = np.arange(len(seen))
    return {name: column[seen] for name, column in columns.items()}


def _from_columns(columns: Mapping[str, Any]) -> RunEvidence:
    if "given_label" not in columns:
        there = cut(", ".join(map(cut, columns)), 400)
        raise MentorNetError(f"the records need a column given_label; there are {there}")
    count = len(columns["given_label"])
    if not count:
        raise MentorNetError("there are no records: the table is empty")
    for name, column in columns.items():
        if len(column) != count:
            raise MentorNetError(f"{name} has {len(column)} rows, but given_label has {count}")
    trajectory, margin = _losses(columns, count)
    suggested = "suggested_label" if "suggested_label" in columns else "predicted_label"
    suggested_label = _whole(columns, suggested, np.full(count, -1))
    return RunEvidence(
        index=_index(columns, count),
        given_label=_whole(columns, "given_label"),
        margin=margin,
        suggested_label=suggested_label,
        support=np.where(suggested_label < 0, np.nan, _real(columns, "support", count)),
        mean_weight=_real(columns, "mean_weight", count),
        trajectory=trajectory,
        learned_epoch=_whole(columns, "learned_epoch", np.zeros(count, np.int64)),
        forgotten=_whole(columns, "forgotten", np.zeros(count, np.int64)),
        path=[f"{text}" for text in columns["path"]] if "path" in columns else None,
        true_label=_whole(columns, "true_label") if "true_label" in columns else None,
    )


def _index(columns: Mapping[str, Any], count: int) -> Integers:
    index = _whole(columns, "index", np.arange(count))
    numbers, times = np.unique(index, return_counts=True)
    if len(numbers) < count:
        repeated = numbers[times > 1][0]
        raise MentorNetError(f"index {repeated} is in several rows; every sample has one row")
    return index


def _losses(columns: Mapping[str, Any], count: int) -> tuple[Floats, Floats]:
    """Return the trajectories `(N, E)` and the margins `(N,)`."""
    losses, found = np.empty((count, 0), np.float32), None
    if "loss" in columns:
        try:
            losses = np.stack([np.asarray(row, np.float32) for row in columns["loss"]])
        except (ValueError, TypeError):
            raise MentorNetError(
                "the column loss must have a list in every row, with as many losses in each"
            ) from None
        losses = losses.reshape(count, -1)
        seen = np.isfinite(losses)
        margins = log_odds(torch.from_numpy(np.where(seen, losses, 0)).double()).numpy()
        weight = seen * _firmness(margins > 0, seen)
        found = mean_margin(
            torch.from_numpy((weight * margins).sum(1)), torch.from_numpy(weight.sum(1))
        ).numpy()
    elif "mean_loss" in columns:
        found = log_odds(torch.from_numpy(_real(columns, "mean_loss", count))).numpy()
    if "margin" in columns:
        found = _real(columns, "margin", count)
    if found is None:
        raise MentorNetError("the records need a column loss (a list in every row) or mean_loss")
    return losses, found


def _firmness(fits: NDArray[np.bool_], seen: NDArray[np.bool_]) -> Floats:
    """Return the weight of each epoch, `(E,)`, from whether p > ½ of each given label, `(N, E)`."""
    met = np.zeros_like(seen)
    met[:, 1:] = seen[:, 1:] & seen[:, :-1]
    same = met.copy()
    same[:, 1:] &= fits[:, 1:] == fits[:, :-1]
    counts = (part.sum(0) for part in (same, met, same & ~fits, met & ~fits))
    return firmness(*(torch.from_numpy(count).double() for count in counts)).numpy()


def _whole(columns: Mapping[str, Any], name: str, default: Integers | None = None) -> Integers:
    """Return a column of whole numbers, or the default if there is no such column."""
    if default is not None and name not in columns:
        return default
    column = np.asarray(columns[name])
    if column.dtype.kind in "iu":
        return _labels_fit(name, column.astype(np.int64))
    values = _numbers(column, f"{name} must be whole numbers", "; number your classes from 0")
    if np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise MentorNetError(f"{name} is missing in row {row}; every sample needs one")
    odd = (values != np.floor(values)) | (np.abs(values) >= 2**53)
    if odd.any():
        raise MentorNetError(f"{name} must be whole numbers, got {values[odd][0]:g}")
    return _labels_fit(name, values.astype(np.int64))


def _labels_fit(name: str, values: Integers) -> Integers:
    """Return the column; labels must be class numbers, for which tables of classes have room."""
    least, most = int(values.min()), int(values.max())
    if name.endswith("_label") and not -1 <= least <= most < _CLASSES:
        raise MentorNetError(
            f"{name} must be class numbers in 0–{_CLASSES - 1}, got {least} to {most}"
        )
    return values


def _real(columns: Mapping[str, Any], name: str, count: int) -> Floats:
    """Return a column of numbers, or NaN everywhere if there is no such column."""
    if name not in columns:
        return np.full(count, np.nan)
    return _numbers(np.asarray(columns[name]), f"{name} must be numbers")


def _numbers(column: NDArray[Any], message: str, hint: str = "") -> Floats:
    try:
        return column.astype(np.float64)
    except (ValueError, TypeError):
        odd = next(value for value in column.tolist() if not isinstance(value, int | float))
        raise MentorNetError(f"{message}, got {cut(repr(odd))}{hint}") from None
