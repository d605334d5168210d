"""Load a table of texts, of features or of vectors, encoded and in its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from mentornet.data.encoding import Raw, Rows, Texts, Vectors, fit_encoder
from mentornet.data.files.labelled import Labelled, labelled
from mentornet.data.files.vector_file import read_vectors
from mentornet.data.options import LoadOptions
from mentornet.data.parts import PARTS, into_splits
from mentornet.data.samples import Samples, Splits
from mentornet.data.tables.array_columns import array_columns
from mentornet.data.tables.choosing import ABOUT, label_column, text_column
from mentornet.data.tables.columns import read_columns, with_class_names
from mentornet.data.tables.reading import Cells, check_texts, read_cells
from mentornet.data.tables.rows import label_rows, labelled_parts
from mentornet.errors import MentorNetError, cut

__all__ = ["load_table"]


def load_table(path: Path, options: LoadOptions | None = None) -> Splits:
    """The texts, rows or vectors in a file, encoded for a student.

    A `.csv` (UTF-8, commas) or `.parquet` file has one sample in each row: a text, or features, or
    a list of numbers in a Parquet column. The column `label` or `given_label`, or another that the
    options name, has the labels. The columns `true_label` and `split` are as in `load_manifest`,
    and so are the parts. A `.npz` file has the array `features`, `(N, D)`, and arrays with the
    names of these columns. Labels for a `.npy` file are in a file of their own.

    The folder of a dataset that `datasets` of Hugging Face has saved is like a Parquet file, and
    its parts are like a column `split`.

    Args:
        path: the file or the folder.
        options: which columns are the text and the labels, and which encoder to fit.

    Returns:
        Splits whose encoder was fitted on the training samples.
    """
    path, options = path.expanduser(), options or LoadOptions()
    raw, cells, notes = (
        _from_arrays(path, options)
        if path.suffix.lower() in (".npy", ".npz")
        else _from_columns(path, options)
    )
    label = label_column(f"{cells.path}", cells.columns, options.label)
    if len(cells) != len(raw):
        raise MentorNetError(
            f"{path} has {len(raw)} {raw.kind}, but there are {len(cells)} labels in {cells.path}"
        )
    if path.is_dir():
        kept, unlabelled = labelled_parts(cells, label)
        raw, cells, notes = raw.at(torch.tensor(kept)), cells.rows(kept), [*notes, *unlabelled]
    splits = into_splits(_parts(labelled(path, label_rows(cells, label))), notes)
    return _encoded(splits, raw, options)


def _from_columns(path: Path, options: LoadOptions) -> tuple[Raw, Cells, list[str]]:
    if options.labels is not None:
        raise MentorNetError(
            f"the setting labels has no meaning for {path}, which has its labels in a column; "
            "name that column in the setting label"
        )
    found = read_columns(path)
    cells, lists = found.cells, list(found.lists)
    label = label_column(f"{path}", cells.columns, options.label)
    cells = with_class_names(cells, label, found.class_names)
    features = [name for name in cells.columns if name not in (label, *ABOUT)]
    text = text_column(cells, label, options) if options.text is not None or not lists else None
    raw: Raw
    if text is not None:
        check_texts(cells, text)
        raw, used = Texts(text, cells.columns[text]), [text]
    elif lists:
        if len(lists) > 1:
            raise MentorNetError(
                f"{path} has {len(lists)} columns of lists: {cut(', '.join(lists), 200)}; leave "
                "out those that are not to be learned from"
            )
        assert found.vectors is not None
        raw, used = Vectors(lists[0], found.vectors(lists[0])), lists
    elif features:
        raw, used = Rows({name: cells.columns[name] for name in features}), features
    else:
        raise MentorNetError(f"{path} has labels, but no column of texts or features")
    unused = [name for name in cells.columns if name not in (label, *ABOUT[2:], *used)]
    notes = [f"{raw.kind} of the column {cut(used[0])}"] if used is not features else []
    notes += found.notes
    if unused:
        notes.append(f"columns of {path.name} not used: {cut(', '.join(unused), 200)}")
    return raw, cells, notes


def _from_arrays(path: Path, options: LoadOptions) -> tuple[Raw, Cells, list[str]]:
    wanted = (*(() if options.label is None else (options.label,)), *ABOUT)
    beside = path if options.labels is None else options.labels.expanduser()
    if beside == path and path.suffix.lower() == ".npy":
        raise MentorNetError(
            f"{path} has vectors and no labels; name a file with its labels in the setting labels"
        )
    if not beside.exists():
        raise MentorNetError(f"labels must name a file that exists, but {beside} is missing")
    kind = beside.suffix.lower()
    if kind in (".csv", ".parquet"):
        cells = read_cells(beside)
    elif kind in (".npy", ".npz"):
        columns = {name: tuple(cells) for name, cells in array_columns(beside, wanted).items()}
        _check_lengths(beside, columns)
        count = max(map(len, columns.values()), default=0)
        cells = Cells(beside, columns, range(count))
    else:
        raise MentorNetError(
            f"labels must be in a .npy, .npz, .csv or .parquet file, got {cut(beside.name)}"
        )
    return Vectors(None, read_vectors(path)), cells, []


def _check_lengths(path: Path, columns: Mapping[str, Sequence[str]]) -> None:
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{count} of {name}" for name, count in lengths.items())
        raise MentorNetError(f"{path} must have one value of each for every sample, got {told}")


def _parts(found: Labelled) -> dict[str, Samples]:
    """The parts, whose inputs are the places of their samples in the file, `(N, 1)`."""
    parts = {}
    for part in PARTS:
        places = [place for place, other in enumerate(found.parts) if other == part]
        if places:
            given = [found.given_label[place] for place in places]
            known = [found.true_label[place] for place in places]
            true = [label for label in known if label is not None]
            parts[part] = Samples(
                torch.tensor(places)[:, None], torch.tensor(given), found.classes,
                torch.tensor(true) if true else None,
            )  # fmt: skip
    return parts


def _encoded(splits: Splits, raw: Raw, options: LoadOptions) -> Splits:
    """The parts with what a student reads; the encoder is fitted on the training samples."""
    fit = options.encoder or fit_encoder
    encoder, notes = fit(raw.at(_places(splits.train)))
    told = [*splits.notes, *notes]

    def encode(name: str, samples: Samples) -> Samples:
        part = raw.at(_places(samples))
        inputs, said = encoder.encode(part)
        told.extend(f"{name} samples: {line}" for line in said)
        return replace(
            samples, inputs=inputs, raw=part, row=_places(samples), vocabulary=encoder.vocabulary
        )

    train, test = encode("training", splits.train), encode("test", splits.test)
    validation = splits.validation
    validation = None if validation is None else encode("validation", validation)
    return Splits(train, test, validation, tuple(told), splits.further, encoder, splits.held_out)


def _places(samples: Samples) -> Tensor:
    return samples.tensor[:, 0]
