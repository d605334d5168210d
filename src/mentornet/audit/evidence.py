"""What a run knows of each label, from wherever it was written down.

Shapes: N samples, E epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.errors import MentorNetError
from mentornet.records import Records, firmness, log_odds, read_records, weighed_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evidence", "evidence_of"]

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Evidence:
    """N samples as a student saw them, one value each if not said otherwise.

    Attributes:
        index: the id of each.
        given_label: a class number, right or wrong.
        margin: of the given label over the others, counting by how firm the student was
            (`Records`); where only losses are known, its log-odds. NaN if it never was seen.
        suggested_label: what the student mostly predicted of late; −1 where that is not known.
        support: the share of those predictions; NaN where it is not known.
        mean_weight: mean v; NaN where it is not known.
        trajectory: ℓ in every epoch, `(N, E)`, E may be 0.
        learned_epoch: when the student first predicted the given label; 0: never. (Of a
            `MentorLoss`, which knows no epochs, in percent of training.)
        forgotten: how often it did and then did not.
        path: what the user calls each sample.
        true_label: where it is known.
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

    def __len__(self) -> int:
        """N."""
        return len(self.index)

    def rows(self, chosen: NDArray[np.bool_]) -> Evidence:
        """Those of the samples."""
        parts: dict[str, Any] = {}
        for name, column in vars(self).items():
            if name == "path" and column is not None:
                parts[name] = [text for text, wanted in zip(column, chosen, strict=True) if wanted]
            elif column is not None:
                parts[name] = column[chosen]
        return replace(self, **parts)


def evidence_of(records: Any) -> Evidence:
    """From the records of a run (a path or the table), of a `MentorLoss`, or a table of yours.

    A table has `given_label`, and `loss` (a list, an epoch each), `margin` or `mean_loss`; if it
    likes also `index`, `path`, `true_label`, `suggested_label` or `predicted_label`, `support`,
    `mean_weight`, `learned_epoch` and `forgotten`.
    """
    if isinstance(records, Records):
        return _from_records(records)
    if isinstance(records, str | Path):
        records = read_records(Path(records))
    if isinstance(records, Mapping):
        import pandas as pd

        records = pd.DataFrame(records)
    return _from_table(records)


def _from_records(records: Records) -> Evidence:
    """What is held in memory: running figures, no trajectories."""
    column = {name: value.cpu().numpy() for name, value in records.state_dict().items()}
    if "given_label" not in column:
        raise MentorNetError("these records do not keep the given labels: Records(…, labels=True)")
    met = column["given_label"] >= 0
    if not met.any():
        raise MentorNetError("no sample has been trained on yet, so there is nothing to audit")
    every = Evidence(
        index=np.arange(len(met)),
        given_label=column["given_label"],
        margin=records.margin.cpu().numpy(),
        suggested_label=column["votes"][:, 0],
        support=np.where(column["votes"][:, 0] < 0, np.nan, records.suggested_share.cpu().numpy()),
        mean_weight=records.mean_weight.cpu().numpy(),
        trajectory=np.empty((len(met), 0), np.float32),
        learned_epoch=column["learned_epoch"],
        forgotten=column["forgotten"],
    )
    return every.rows(met)


def _from_table(table: pd.DataFrame) -> Evidence:
    if "given_label" not in table:
        raise MentorNetError(
            f"the records need a column given_label; there are {', '.join(map(str, table.columns))}"
        )
    count = len(table)
    if not count:
        raise MentorNetError("there are no records: the table is empty")
    given = _whole(table, "given_label", None)
    trajectory, margin = _losses(table, count)
    suggested = "suggested_label" if "suggested_label" in table else "predicted_label"
    index = _whole(table, "index", np.arange(count))
    if len(np.unique(index)) < count:
        repeated = table["index"][table["index"].duplicated()].iloc[0]
        raise MentorNetError(f"index {repeated} stands in several rows; one row a sample")
    return Evidence(
        index=index,
        given_label=given,
        margin=margin,
        suggested_label=_whole(table, suggested, np.full(count, -1)),
        support=_real(table, "support"),
        mean_weight=_real(table, "mean_weight"),
        trajectory=trajectory,
        learned_epoch=_whole(table, "learned_epoch", np.zeros(count, np.int64)),
        forgotten=_whole(table, "forgotten", np.zeros(count, np.int64)),
        path=[str(text) for text in table["path"]] if "path" in table else None,
        true_label=_whole(table, "true_label", None) if "true_label" in table else None,
    )


def _losses(table: pd.DataFrame, count: int) -> tuple[Floats, Floats]:
    """The trajectories `(N, E)`, and the margins `(N,)`."""
    losses, found = np.empty((count, 0), np.float32), None
    if "loss" in table:
        try:
            losses = np.stack([np.asarray(row, np.float32) for row in table["loss"]])
        except (ValueError, TypeError):
            raise MentorNetError(
                "the column loss must have a list of as many losses in every row"
            ) from None
        losses = losses.reshape(count, -1)
        seen = np.isfinite(losses)
        margins = _log_odds(np.where(seen, losses, 0))
        weight = seen * _firmness(margins > 0, seen)
        found = weighed_mean(
            torch.from_numpy((weight * margins).sum(1)), torch.from_numpy(weight.sum(1))
        ).numpy()
    elif "mean_loss" in table:
        found = _log_odds(_real(table, "mean_loss"))
    if "margin" in table:
        found = _real(table, "margin")
    if found is None:
        raise MentorNetError("the records need a column loss (a list a sample) or mean_loss")
    return losses, found


def _firmness(fits: NDArray[np.bool_], seen: NDArray[np.bool_]) -> Floats:
    """The weight of each epoch, `(E,)`; a side of p = ½ stands for the class predicted."""
    met = np.zeros_like(seen)
    met[:, 1:] = seen[:, 1:] & seen[:, :-1]
    same = met.copy()
    same[:, 1:] &= fits[:, 1:] == fits[:, :-1]
    counts = (part.sum(0) for part in (same, met, same & ~fits, met & ~fits))
    return firmness(*(torch.from_numpy(count).double() for count in counts)).numpy()


def _log_odds(loss: Floats) -> Floats:
    return log_odds(torch.from_numpy(np.asarray(loss, np.float64))).numpy()


def _whole(table: pd.DataFrame, name: str, missing: Integers | None) -> Integers:
    if missing is not None and name not in table:
        return missing
    column = table[name]
    if column.isna().any():
        row = int(column.isna().to_numpy().argmax())
        raise MentorNetError(f"{name} is missing in row {row}; every sample needs one")
    try:
        values = column.to_numpy(np.int64)
        odd = values != column.to_numpy(np.float64)
    except (ValueError, TypeError):
        raise MentorNetError(
            f"{name} must be whole numbers, got {column.iloc[0]!r}; number your classes from 0"
        ) from None
    if odd.any():
        raise MentorNetError(f"{name} must be whole numbers, got {column[odd].iloc[0]}")
    return values


def _real(table: pd.DataFrame, name: str) -> Floats:
    if name not in table:
        return np.full(len(table), np.nan)
    try:
        return table[name].to_numpy(np.float64)
    except (ValueError, TypeError):
        raise MentorNetError(f"{name} must be numbers, got {table[name].iloc[0]!r}") from None
