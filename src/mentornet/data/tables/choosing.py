"""What the columns of a table mean: labels, texts or features."""

from __future__ import annotations

from collections.abc import Iterable

from mentornet.data.encoding.columns import is_missing, is_number
from mentornet.data.options import LoadOptions
from mentornet.data.tables.reading import Cells
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["ABOUT", "LABELS", "label_column", "text_column"]

LABELS = ("label", "given_label")
"""The names that the column of labels may have without being named."""

ABOUT = (*LABELS, "true_label", "split")
"""Columns that are never features."""

_LOOKED_AT = 1_000  # rows
_WORDS, _DIFFERENT = 3, 0.5  # a text has so many words on average; at least so many texts differ


def label_column(where: str, names: Iterable[str], label: str | None) -> str:
    """Return the column of labels: the one that the user names, or `label` or `given_label`.

    Args:
        where: the file, for messages.
        names: the columns that there are.
        label: what the user names, if anything.
    """
    names = list(names)
    if label is not None:
        if label not in names:
            raise MentorNetError(
                f"{where} has no column {cut(label)!r} for the setting label; "
                f"{did_you_mean(label, names)}"
            )
        return label
    found = [name for name in LABELS if name in names]
    if len(found) == 2:
        raise MentorNetError(
            f"{where} has the columns label and given_label, which mean the same: keep one of "
            "them, or name one in the setting label"
        )
    if not found:
        raise MentorNetError(
            f"{where} has no column 'label'; name the column of labels in the setting label. "
            f"{did_you_mean('label', names)}"
        )
    return found[0]


def text_column(cells: Cells, label: str, options: LoadOptions) -> str | None:
    """Return the column of texts: the one that the user names, or the only one that reads like it.

    A column reads like text if its cells have three words or more on average, and at least half of
    them differ.
    """
    if options.text is not None:
        if options.text not in cells.columns:
            raise MentorNetError(
                f"{cells.path} has no column {cut(options.text)!r} for the setting text; "
                f"{did_you_mean(options.text, cells.columns)}"
            )
        if options.text in (label, *ABOUT):
            raise MentorNetError(f"the setting text names {options.text!r}, which is no text")
        return options.text
    found = [
        name
        for name, column in cells.columns.items()
        if name not in (label, *ABOUT) and _reads_like_text(column[:_LOOKED_AT])
    ]
    if len(found) > 1:
        raise MentorNetError(
            f"{cells.path} has {len(found)} columns that read like text: "
            f"{cut(', '.join(map(cut, found)), 200)}; name one of them in the setting text"
        )
    return found[0] if found else None


def _reads_like_text(column: tuple[str, ...]) -> bool:
    there = [cell for cell in column if not is_missing(cell)]
    if not there or all(map(is_number, there)):
        return False
    words = sum(len(cell.split()) for cell in there) / len(there)
    return words >= _WORDS and len(set(there)) >= _DIFFERENT * len(there)
