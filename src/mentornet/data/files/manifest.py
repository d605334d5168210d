"""A table of images: path and label of each, and optionally its true label and split."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mentornet.data.files.entries import Entry, read_entries
from mentornet.data.files.labelled import labelled
from mentornet.data.files.manifest_rows import Row, read_rows
from mentornet.data.options import LoadOptions
from mentornet.data.samples import Splits
from mentornet.errors import MentorNetError, cut

__all__ = ["load_manifest"]


def load_manifest(path: Path, options: LoadOptions | None = None) -> Splits:
    """The images that a `.csv` (UTF-8, commas) or `.parquet` file lists, one in each row.

    The columns are: `path`, absolute or relative to the folder of the manifest; `label` or
    `given_label`, the name or number of a class; optionally `true_label`; optionally `split`, which
    is train, val, validation, valid or test, and means train if it is empty. The classes are the
    labels of the training rows, sorted by value if all are whole numbers, else as text.

    True labels must be known for all rows of a split or for none. Those of training rows become
    `true_label`. A test or validation row that has one is evaluated by it. Without test rows the
    validation rows are used for testing; without either, a tenth of each training class.

    Args:
        path: the manifest.
        options: the size of the images, whether they are streamed, and so on.

    Returns:
        Splits whose `paths` are those of the manifest, with `/` as the separator.
    """
    path, options = path.expanduser(), options or LoadOptions()
    listed, notes = read_rows(path)
    found = labelled(path, _listed(path, listed, skip_bad=options.skip_bad))
    entries = [
        Entry(path.parent / row.path, Path(row.path).as_posix(), part, given, true)
        for row, part, given, true in zip(
            found.rows, found.parts, found.given_label, found.true_label, strict=True
        )
    ]
    return read_entries(entries, found.classes, path.parent, options, notes)


def _listed(path: Path, listed: Iterable[Row], *, skip_bad: bool) -> list[Row]:
    rows = list(_checked(listed, path.parent, skip_bad=skip_bad))
    if not rows:
        raise MentorNetError(f"{path} lists no images")
    return rows


def _checked(rows: Iterable[Row], folder: Path, *, skip_bad: bool) -> Iterator[Row]:
    """The rows. No path, no label, a missing file, or one that is listed twice, is an error.

    `skip_bad` allows missing files.
    """
    seen: dict[str, Row] = {}
    for row in rows:
        if not row.path:
            raise MentorNetError(f"{row} has no path")
        place = os.path.normpath(folder / row.path)
        if place in seen:
            raise MentorNetError(f"{row} lists {cut(row.path)} again, after {seen[place]}")
        seen[place] = row
        if not skip_bad and not os.path.isfile(place):  # noqa: PTH113 - false for any odd path
            raise MentorNetError(
                f"{row}: there is no file {cut(row.path)} in {folder}, the folder of the "
                "manifest; set skip_bad to continue without it"
            )
        if not row.label:
            raise MentorNetError(f"{row} has no label; every image needs one")
        yield row
