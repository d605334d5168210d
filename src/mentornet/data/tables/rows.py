"""The labels in the rows of a table."""

from __future__ import annotations

from mentornet.data.files.manifest_rows import Row
from mentornet.data.tables.reading import Cells
from mentornet.errors import MentorNetError

__all__ = ["label_rows", "labelled_parts"]


def label_rows(cells: Cells, label: str) -> list[Row]:
    """The labels of the rows; none of them is empty."""
    empty = ("",) * len(cells)
    true, split = (cells.columns.get(name, empty) for name in ("true_label", "split"))
    rows = [
        Row(cells.place(place), "", *values)
        for place, values in enumerate(zip(cells.columns[label], true, split, strict=True))
    ]
    for row in rows:
        if not row.label:
            raise MentorNetError(f"{row} has no label; every row needs one")
    return rows


def labelled_parts(cells: Cells, label: str) -> tuple[list[int], list[str]]:
    """Find parts in which no row has a label, as in a competition, so that nothing can be tested.

    Args:
        cells: the table, with the column `split` if it has parts.
        label: the column of labels.

    Returns:
        The places of the other rows, and a line to tell the user for each such part.
    """
    split = cells.columns.get("split", ("",) * len(cells))
    labels = cells.columns[label]
    known = {"", "train", *(part for part, name in zip(split, labels, strict=True) if name)}
    unknown = sorted(set(split) - known)
    kept = [place for place, part in enumerate(split) if part in known]
    return kept, [f"the {part} samples have no labels: not used" for part in unknown]
