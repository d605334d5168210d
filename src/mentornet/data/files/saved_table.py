"""The rows of a saved dataset, whose parts follow one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from mentornet.data.files.arrow_stream import Block
from mentornet.data.files.labelled import SPLITS
from mentornet.data.files.numbered_cells import cell_text
from mentornet.data.files.saved_dataset import SavedPart, image_columns, saved_parts
from mentornet.data.files.vector_file import finite, vectors_of
from mentornet.data.parts import PARTS
from mentornet.data.stream.streamed import Place
from mentornet.errors import MentorNetError, cut
from mentornet.files import reading
from mentornet.parquet import is_plain, is_vector, plain_values

__all__ = ["SavedTable", "read_saved"]

_ROOM, _RATIO = 1 << 27, 20  # rows may take 128 MB, and 20 times the size of their files beyond


@dataclass(frozen=True)
class SavedTable:
    """A saved dataset as one table.

    Attributes:
        folder: the folder.
        parts: the parts, training samples first, each with its role: one of `PARTS`, or empty text
            if the dataset is a single one.
        notes: lines to tell the user.
    """

    folder: Path
    parts: Sequence[tuple[SavedPart, str]]
    notes: Sequence[str] = ()

    @cached_property
    def plain(self) -> list[str]:
        """The columns of text, numbers or booleans."""
        return [name for name, kind in self._first.types.items() if is_plain(kind)]

    @cached_property
    def lists(self) -> list[str]:
        """The columns of lists of numbers."""
        return [name for name, kind in self._first.types.items() if is_vector(kind)]

    @cached_property
    def images(self) -> list[str]:
        """The columns of images."""
        return image_columns(self._first)

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return list(self._first.types)

    @property
    def _first(self) -> SavedPart:
        return self.parts[0][0]

    def class_names(self, column: str) -> tuple[str, ...] | None:
        """The names of the classes, if the column has numbers of classes that have names."""
        return self._first.class_names(column)

    def cells(self, names: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], list[int | str]]:
        """The cells of these columns as text, and what messages call each row.

        If the dataset has parts, the column `split` names them.
        """
        found: dict[str, list[str]] = {name: [] for name in names}
        numbers: list[int | str] = []
        for part, role in self.parts:
            columns: dict[str, list[str]] = {name: [] for name in names}
            count = 0
            for _, block in part.blocks(list(names)):
                for name, column in columns.items():
                    values = plain_values(block.batch.column(name))
                    column += [
                        cell_text(f"{part}, row {row}", name, value)
                        for row, value in enumerate(values, count + 1)
                    ]
                count += block.batch.num_rows
            order = part.ordered(count).tolist()
            for name, column in columns.items():
                found[name] += [column[place] for place in order]
            numbers += [f"{row} of {role}" if role else row for row in range(1, len(order) + 1)]
            if role:
                found.setdefault("split", []).extend([role] * len(order))
        if not numbers:
            raise MentorNetError(f"{self.folder} has no rows")
        return {name: tuple(column) for name, column in found.items()}, numbers

    def vectors(self, name: str) -> Tensor:
        """The vectors in a column of lists, `(N, D)`, float32."""
        found: list[NDArray[Any]] = []
        for part, _ in self.parts:
            chunks = (block.batch.column(name) for _, block in part.blocks([name]))
            with reading(part.folder, "as vectors"):
                values = vectors_of(part.folder, chunks)
            order = part.ordered(len(values))
            _check_room(part, len(order) * values[:1].nbytes)
            found.append(values if part.rows is None else values[order])
        widths = {rows.shape[1] for rows in found}
        if len(widths) > 1:
            raise MentorNetError(
                f"{self.folder} has vectors of different lengths in its parts: "
                f"{', '.join(map(str, sorted(widths)))}"
            )
        return finite(self.folder, np.concatenate(found))

    def pictures(self, name: str) -> list[Place]:
        """The places of the images in a column, which are in the files of the dataset."""
        found: list[Place] = []
        for part, _ in self.parts:
            places: list[Place] = []
            for file, block in part.blocks([name]):
                with reading(file, "as images"):
                    places += _places(part, name, file, block, len(places))
            found += [places[row] for row in part.ordered(len(places)).tolist()]
        return found


def read_saved(folder: Path, *, whole: bool = True) -> SavedTable:
    """Read which parts and columns a saved dataset has.

    Args:
        folder: the folder that `save_to_disk` of Hugging Face `datasets` has written.
        whole: whether parts are used together, to train on; if not, there must be one only.
    """
    parts = saved_parts(folder)
    if len(parts) == 1 and not parts[0].name:
        return SavedTable(folder, [(parts[0], "")])
    named = cut(", ".join(cut(part.name) for part in parts), 200)
    if not whole:
        raise MentorNetError(
            f"{folder} has the parts {named}; name the folder of one of them, such as "
            f"{parts[0].folder}"
        )
    roles: dict[str, SavedPart] = {}
    unused = []
    for part in parts:
        role = SPLITS.get(part.name.lower())
        if role in roles:
            raise MentorNetError(
                f"{folder} has the parts {roles[role].name} and {part.name}, which mean the same"
            )
        if role is None:
            unused.append(part.name)
        else:
            roles[role] = part
    if "train" not in roles:
        raise MentorNetError(
            f"{folder} has the parts {named}, but none that is called train; to train on one of "
            f"them, name its folder, such as {parts[0].folder}"
        )
    notes = [f"part of {folder.name} not used: {cut(name)}" for name in unused]
    return SavedTable(folder, [(roles[role], role) for role in PARTS if role in roles], notes)


def _places(part: SavedPart, name: str, file: Path, block: Block, before: int) -> Iterator[Place]:
    """The places of the images of some rows; `before` rows came before them."""
    column = block.batch.column(name)
    content = column.field("bytes")
    missing = np.asarray(column.is_null()) | np.asarray(content.is_null())
    if missing.any():
        row = int(missing.argmax())
        named = column.field("path")[row].as_py()
        told = "" if named is None else f", only its name, {cut(named)}"
        raise MentorNetError(
            f"{part}, row {before + row + 1} has no image in column {cut(name)!r}{told}; save the "
            "dataset again with datasets 2.8 or newer, which puts the files into it"
        )
    _, ends, data = content.buffers()
    wide = np.int64 if f"{content.type}" == "large_binary" else np.int32
    places = np.frombuffer(ends, wide, len(content) + 1, content.offset * wide().itemsize)
    start = 0 if data is None else block.start + data.address - block.address
    for row in range(len(content)):
        first, end = int(places[row]), int(places[row + 1])
        yield Place(f"{file}", f"{part}, row {before + row + 1}", start + first, end - first)


def _check_room(part: SavedPart, needed: int) -> None:
    """Raise if rows that are repeated would need far more memory than their files."""
    there = sum(file.stat().st_size for file in (*part.files, *part.order))
    if needed > _ROOM + _RATIO * there:
        raise MentorNetError(
            f"{part} has rows of {needed:,} bytes, too many for files of {there:,} bytes"
        )
