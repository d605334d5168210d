"""The folder of a dataset that `datasets` of Hugging Face has saved on disk.

`Dataset.save_to_disk` writes `state.json`, which lists files of record batches, and
`dataset_info.json`, which says what the columns are. `DatasetDict.save_to_disk` writes
`dataset_dict.json`, which lists parts, and such a folder for each of them. Version 1 of `datasets`
also wrote the order of the rows, if it was not that of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mentornet.data.files.arrow_stream import Block, arrow_stream
from mentornet.errors import MentorNetError, cut
from mentornet.files import read_json, reading
from mentornet.names import did_you_mean
from mentornet.schema import typed

__all__ = ["SavedPart", "image_columns", "is_saved", "saved_parts"]

T = TypeVar("T")

_PARTS, _STATE, _INFO = "dataset_dict.json", "state.json", "dataset_info.json"


def is_saved(folder: Path) -> bool:
    """Whether a folder looks like a saved dataset, which may be incomplete."""
    if (folder / _PARTS).is_file():
        return True
    there = [(folder / name).is_file() for name in (_STATE, _INFO)]
    return all(there) or (any(there) and next(folder.glob("*.arrow"), None) is not None)


@dataclass(frozen=True)
class _Parts:
    splits: list[str]


@dataclass(frozen=True)
class _State:
    _data_files: list[dict[str, Any]]
    _indices_data_files: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class SavedPart:
    """One dataset, which may be a part of several.

    Attributes:
        folder: the folder of the part.
        name: the name of the part; empty if the dataset has no parts.
        files: the files of its rows.
        order: the files with the numbers of the rows that count, in order; empty if all do.
        features: what `dataset_info.json` says of each column.
    """

    folder: Path
    name: str
    files: tuple[Path, ...]
    order: tuple[Path, ...]
    features: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.folder}"

    @cached_property
    def types(self) -> dict[str, Any]:
        """The type of each column in Arrow."""
        with arrow_stream(self.files[0]) as stream:
            return {field.name: field.type for field in stream.schema}

    @cached_property
    def rows(self) -> NDArray[np.int64] | None:
        """The numbers of the rows that count, in order; None if all do."""
        if not self.order:
            return None
        found: list[NDArray[np.int64]] = []
        order = replace(self, files=self.order, order=(), features={})
        for _, block in order.blocks(["indices"]):
            column = block.batch.column("indices")
            if column.null_count:
                raise MentorNetError(f"{self.order[0]} has a row without a number")
            found.append(column.to_numpy(zero_copy_only=False).astype(np.int64))
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def ordered(self, count: int) -> NDArray[np.int64]:
        """The places, among `count` rows that were read, of the rows that count."""
        if self.rows is None:
            return np.arange(count)
        if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < count:
            raise MentorNetError(
                f"{self.order[0]} names row {self.rows.max()}, but there are {count} rows from 0"
            )
        return self.rows

    def blocks(self, wanted: list[str]) -> Iterator[tuple[Path, Block]]:
        """The rows of all files, in their order there, each with its file.

        Args:
            wanted: columns that every file must have.
        """
        for file in self.files:
            with arrow_stream(file) as stream:
                for name in wanted:
                    if name not in stream.schema.names:
                        hint = did_you_mean(name, stream.schema.names)
                        raise MentorNetError(f"{file} has no column {cut(name)!r}; {hint}")
                    kind = stream.schema.field(name).type
                    if kind != self.types[name]:
                        raise MentorNetError(
                            f"{file} has the column {cut(name)!r} of type {cut(f'{kind}')}, but "
                            f"{self.files[0].name} of type {cut(f'{self.types[name]}')}"
                        )
                for block in stream.blocks:
                    yield file, block

    def class_names(self, column: str) -> tuple[str, ...] | None:
        """The names of the classes, if the column has numbers of classes that have names."""
        about = self.features.get(column)
        names = about.get("names") if isinstance(about, dict) else None
        return tuple(map(str, names)) if isinstance(names, list) else None


def image_columns(part: SavedPart) -> list[str]:
    """The columns of images, whose files are in the dataset."""
    import pyarrow as pa

    def holds_files(name: str, kind: Any) -> bool:
        about = part.features.get(name)
        if not (isinstance(about, dict) and about.get("_type") == "Image"):
            return False
        inner = {field.name: field.type for field in kind} if pa.types.is_struct(kind) else {}
        return inner.get("bytes") in (pa.binary(), pa.large_binary()) and "path" in inner

    with reading(part.files[0], "as an Arrow stream"):  # names of fields may be anything
        return [name for name, kind in part.types.items() if holds_files(name, kind)]


def saved_parts(folder: Path) -> list[SavedPart]:
    """The parts of a saved dataset; a dataset without parts is one without a name."""
    if not (folder / _PARTS).is_file():
        return [_part(folder, "")]
    names = _listed(_Parts, "splits", folder / _PARTS).splits
    if not names:
        raise MentorNetError(f"{folder / _PARTS} lists no parts")
    return [_part(folder / _name(folder / _PARTS, name), name) for name in dict.fromkeys(names)]


def _listed(kind: type[T], key: str, path: Path) -> T:
    content = read_json(path)
    if key not in content:
        raise MentorNetError(
            f"{path} has no {key}; was it written by save_to_disk of Hugging Face datasets?"
        )
    return typed(kind, content, f"{path}")


def _part(folder: Path, name: str) -> SavedPart:
    if not folder.is_dir():
        raise MentorNetError(f"{folder} is missing; was the dataset copied in part?")
    for file in (_STATE, _INFO):
        if not (folder / file).is_file():
            raise MentorNetError(
                f"{folder} has no {file}, which save_to_disk of Hugging Face datasets writes; was "
                "it copied in part?"
            )
    path = folder / _STATE
    state = _listed(_State, "_data_files", path)
    features = read_json(folder / _INFO).get("features")
    files = [_file(path, file) for file in state._data_files]
    if not files:
        raise MentorNetError(f"{path} lists no files")
    order = [_file(path, file) for file in state._indices_data_files or ()]
    known = features if isinstance(features, dict) else {}
    return SavedPart(folder, name, tuple(files), tuple(order), known)


def _file(path: Path, listed: Mapping[str, Any]) -> Path:
    name = listed.get("filename")
    if not isinstance(name, str):
        raise MentorNetError(f"{path}: every file must have a filename as text")
    return path.parent / _name(path, name)


def _name(path: Path, name: str) -> str:
    """A name that a file lists, which must be that of a file or folder beside it."""
    odd = not name.isprintable() or len(name.encode(errors="replace")) > 255
    if odd or name in ("", ".", "..") or "/" in name or "\\" in name:
        raise MentorNetError(f"{path} names {cut(repr(name))}, which is not in its folder")
    return name
