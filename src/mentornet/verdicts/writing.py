"""Writes verdicts as the CSV file that the audit's page downloads and `read_verdicts` reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mentornet.cells import csv_text
from mentornet.verdicts.verdicts import Verdicts

__all__ = ["COLUMNS", "verdicts_csv"]

COLUMNS = ("index", "name", "given_label", "decision", "label")


def verdicts_csv(
    verdicts: Verdicts,
    given_label: Iterable[int],
    *,
    class_names: Sequence[str],
    names: Sequence[str] | None = None,
) -> str:
    """The verdicts as CSV text: one row a sample, and whether to keep, relabel or drop it.

    Args:
        verdicts: M of them.
        given_label: the label that each of the M samples has.
        class_names: the K classes.
        names: what the user calls each of the M samples, such as its path.

    >>> import torch
    >>> right = torch.tensor([0, 1, -1])
    >>> verdicts = Verdicts(torch.tensor([3, 4, 5]), torch.tensor([True, False, False]), right)
    >>> print(verdicts_csv(verdicts, [0, 0, 1], class_names=("cat", "dog")), end="")
    index,name,given_label,decision,label
    3,,cat,keep,cat
    4,,cat,relabel,dog
    5,,dog,drop,
    """
    rows: list[tuple[Any, ...]] = [COLUMNS]
    said = (verdicts.index, verdicts.is_correct, verdicts.true_label)
    for place, (given, index, correct, right) in enumerate(
        zip(given_label, *(column.tolist() for column in said), strict=True)
    ):
        label = given if correct else right
        decision = "keep" if correct else "relabel" if right >= 0 else "drop"
        name = None if names is None else names[place]
        new = class_names[label] if label >= 0 else None
        rows.append((index, name, class_names[given], decision, new))
    return csv_text(rows)
