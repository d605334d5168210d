"""The one function that loads data: by name, from a folder or from a table."""

from __future__ import annotations

from pathlib import Path

from mentornet.data.files.image_folder import load_image_folder, named_as_image
from mentornet.data.files.manifest import load_manifest
from mentornet.data.files.numbered_cells import numbered_cells
from mentornet.data.files.saved_dataset import is_saved
from mentornet.data.files.saved_table import read_saved
from mentornet.data.options import LoadOptions
from mentornet.data.samples import Splits
from mentornet.data.sets.registry import DATASETS
from mentornet.data.stream.shards import has_shards, load_shards
from mentornet.data.tables.loading import load_table
from mentornet.data.tables.saved_images import load_saved_images
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean
from mentornet.parquet import column_names

__all__ = ["load_data"]


def load_data(source: str, options: LoadOptions | None = None) -> Splits:
    """The data that `source` names, ready to train on.

    Args:
        source: a name in `DATASETS`, or the path of a folder of images (`load_image_folder`), of
            a folder of shards (`load_shards`), of a table of images (`load_manifest`), of a file
            of texts, rows or vectors (`load_table`), or of a dataset that `datasets` of Hugging
            Face has saved, with any of these. A name comes first: a folder called digits is
            `./digits`.
        options: how to load it. An option that has no meaning for the source is an error.
    """
    options = options or LoadOptions()
    if source in DATASETS:
        dataset = DATASETS[source]
        options.check(source, dataset.options)
        splits = dataset.load(options)
    else:
        splits = _from_path(source, options)
    if len(splits.train.given_label.unique()) < 2:
        raise MentorNetError(f"all training samples of {source} have the same class")
    if not len(splits.test):
        raise MentorNetError(f"{source} has no test samples")
    return splits


def _from_path(source: str, options: LoadOptions) -> Splits:
    path = Path(source).expanduser()
    if not path.exists():
        raise MentorNetError(
            f"unknown data {cut(source, 200)!r}; {did_you_mean(source, DATASETS)}. "
            "A path of your own must lead to a folder of images or shards, to a dataset saved by "
            "Hugging Face, or to a .csv, .parquet, .npy or .npz file"
        )
    if path.is_dir() and has_shards(path):
        options.check(source, ("image_size", "skip_bad"))
        return load_shards(path, side=options.image_size, on_progress=options.on_progress)
    if path.is_dir() and is_saved(path):
        return _from_saved(path, source, options)
    if path.is_file() and _has_no_images(path, options):
        options.check(source, ("text", "label", "labels"))
        return load_table(path, options)
    options.check(source, ("image_size", "skip_bad", "stream"))
    load = load_image_folder if path.is_dir() else load_manifest
    return load(path, options)


def _from_saved(folder: Path, source: str, options: LoadOptions) -> Splits:
    """The images of a saved dataset, or else its texts, rows or vectors."""
    table = read_saved(folder)
    if table.images and options.text is None:
        options.check(source, ("image_size", "skip_bad", "stream", "label"))
        return load_saved_images(table, options)
    options.check(source, ("text", "label"))
    return load_table(folder, options)


def _has_no_images(path: Path, options: LoadOptions) -> bool:
    """Whether a file is one of texts, rows or vectors, and not a table that lists images.

    Such a table has a column `path`, or names an image in its first row (if it is a CSV file).
    """
    kind = path.suffix.lower()
    if kind == ".parquet":
        return options.text is not None or "path" not in column_names(path)
    if kind != ".csv":
        return kind in (".npy", ".npz")
    if options.text is not None:
        return True
    header, rows = numbered_cells(path)
    _, first = next(rows, (0, {}))
    return "path" not in header and not any(map(named_as_image, first.values()))
