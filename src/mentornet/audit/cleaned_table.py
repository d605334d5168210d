"""The texts or rows of a run without its suspects, as a table to train on."""

from __future__ import annotations

from typing import Any

from mentornet.cells import csv_text
from mentornet.data import Samples
from mentornet.data.encoding.columns import is_number
from mentornet.training.preparation import Prepared
from mentornet.verdicts import Verdicts

__all__ = ["cleaned_table"]


def cleaned_table(prepared: Prepared, verdicts: Verdicts) -> str | None:
    """Return every sample that is left as CSV, with its label, its part and its true label.

    Args:
        prepared: the data of the run.
        verdicts: what the audit would say of each suspect.

    Returns:
        The text of the file; None if samples are not texts or rows, which a CSV file can hold.
    """
    raw = prepared.train.raw
    if raw is None or not raw.cells():
        return None
    label = prepared.config.files.label or "label"
    right = dict(zip(verdicts.index.tolist(), verdicts.true_label.tolist(), strict=True))
    rows = [[*raw.cells(), label, "split", "true_label"]]
    parts = (("train", prepared.train), ("val", prepared.validation), ("test", prepared.test))
    for split, samples in parts:
        if samples is not None:
            rows += _rows(samples, split, right if split == "train" else {})
    return csv_text(rows)


def _rows(samples: Samples, split: str, right: dict[int, int]) -> list[list[Any]]:
    """Return the rows of a part; `right` has other labels of some of them, −1 to leave one out."""
    assert samples.raw is not None
    truth, rows = samples.true_label, []
    for place, cells in enumerate(zip(*samples.raw.cells().values(), strict=True)):
        number = right.get(place, int(samples.given_label[place]))
        if number >= 0:
            known = "" if truth is None else samples.classes[int(truth[place])]
            about = (samples.classes[number], split, known)
            rows.append([*map(_written, cells), *about])
    return rows


def _written(cell: str) -> str | float:
    """Return a negative number as such, because text that begins with a sign is guarded."""
    return float(cell) if cell[:1] in ("-", "+") and is_number(cell) else cell
