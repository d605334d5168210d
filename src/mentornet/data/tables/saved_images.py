"""The images of a dataset that `datasets` of Hugging Face has saved."""

from __future__ import annotations

from mentornet.data.files.entries import Entry, read_entries
from mentornet.data.files.labelled import labelled
from mentornet.data.files.saved_table import SavedTable
from mentornet.data.options import LoadOptions
from mentornet.data.samples import Splits
from mentornet.data.tables.choosing import label_column
from mentornet.data.tables.columns import labels_of_saved
from mentornet.data.tables.rows import label_rows, labelled_parts
from mentornet.errors import MentorNetError, cut

__all__ = ["load_saved_images"]


def load_saved_images(table: SavedTable, options: LoadOptions) -> Splits:
    """The images of a saved dataset, which are inside of its files.

    Args:
        table: the dataset.
        options: the column of labels, the size of the images, whether they are streamed, and so on.

    Returns:
        Splits with the number of each sample's row, counted through the training, validation and
        test parts.
    """
    if len(table.images) > 1:
        raise MentorNetError(
            f"{table.folder} has {len(table.images)} columns of images: "
            f"{cut(', '.join(table.images), 200)}; leave out those that are not to be learned from"
        )
    label = label_column(f"{table.folder}", table.names, options.label)
    cells = labels_of_saved(table, label)
    kept, unlabelled = labelled_parts(cells, label)
    found = labelled(table.folder, label_rows(cells.rows(kept), label))
    places = table.pictures(table.images[0])
    entries = [
        Entry(places[row], place.name, part, given, true, row)
        for row, place, part, given, true in zip(
            kept, [places[row] for row in kept], found.parts, found.given_label, found.true_label,
            strict=True,
        )
    ]  # fmt: skip
    unused = [name for name in table.names if name not in (label, *table.images, *_READ)]
    notes = [*table.notes, *unlabelled]
    if unused:
        notes.append(f"columns of {table.folder.name} not used: {cut(', '.join(unused), 200)}")
    return read_entries(entries, found.classes, table.folder, options, notes)


_READ = ("true_label", "split")
