"""Writes verdicts as the CSV file that the audit's page downloads and `read_verdicts` reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from mentornet.verdicts.spreadsheet import guard
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
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(COLUMNS)
    said = (verdicts.index, verdicts.is_correct, verdicts.true_label)
    for place, (given, index, correct, right) in enumerate(
        zip(given_label, *(column.tolist() for column in said), strict=True)
    ):
        label = given if correct else right
        decision = "keep" if correct else "relabel" if right >= 0 else "drop"
        cells = (
            names[place] if names is not None else "",
            class_names[given],
            decision,
            class_names[label] if label >= 0 else "",
        )
        rows.writerow([index, *map(guard, cells)])
    return content.getvalue()
