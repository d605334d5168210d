"""Parquet files as plain columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from mentornet.errors import MentorNetError, cut
from mentornet.files import open_file, reading
from mentornet.parquet_pages import measure

__all__ = [
    "class_names",
    "column_names",
    "is_plain",
    "is_vector",
    "plain_columns",
    "plain_values",
    "read_parquet",
    "read_table",
    "vector_columns",
]

_ROOM, _RATIO = 1 << 27, 20  # a file may unpack to 128 MB, and to 20 times its size beyond that
_END, _PARTS = 1 << 24, 100_000  # bytes of its end, and columns of all row groups together
_ROWS, _NESTED_ROWS = 1 << 16, 1_000  # rows that are unpacked at once
_VALUE = 16  # bytes that a value in a list or struct takes beside its own
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


@dataclass(frozen=True)
class _Opened:
    """An open file.

    Attributes:
        file: as Arrow reads it.
        raw: as bytes.
        size: the number of bytes.
        words: the columns that are read as words.
    """

    file: Any
    raw: BinaryIO
    size: int
    words: list[str]

    @property
    def room(self) -> int:
        """The bytes that it may unpack to."""
        return _ROOM + _RATIO * self.size


@contextmanager
def _opened(path: Path) -> Iterator[_Opened]:
    """Open the file; what its end states must be possible for its size.

    Words are read as a dictionary and the place in it for each row, because a small file can repeat
    a long word many times.
    """
    import pyarrow.parquet as pq

    with reading(path, "as a parquet file"), open_file(path) as raw:
        size = os.fstat(raw.fileno()).st_size
        raw.seek(max(0, size - 8))
        end = int.from_bytes(raw.read(4), "little")
        if _END < end < size:
            raise MentorNetError(f"{path} has an end of {end:,} bytes; at most {_END:,} are read")
        about = pq.read_metadata(raw)
        if about.num_row_groups * about.num_columns > _PARTS:
            raise MentorNetError(
                f"{path} has {about.num_row_groups:,} groups of rows with {about.num_columns:,} "
                f"columns each; write it again with fewer groups"
            )
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        if about.num_rows > size or unpacked > _ROOM + _RATIO * size:
            raise MentorNetError(
                f"{path} states {about.num_rows:,} rows of {unpacked:,} bytes, too many for a "
                f"file of {size:,} bytes"
            )
        raw.seek(0)
        words = _words(about, groups)
        with pq.ParquetFile(raw, read_dictionary=words) as file:
            yield _Opened(file, raw, size, words)


def _words(about: Any, groups: list[Any]) -> list[str]:
    """The columns of text or bytes, not inside others, that Arrow can read as words."""
    import pyarrow as pa

    kinds = (pa.string(), pa.binary())
    found = {field.name for field in about.schema.to_arrow_schema() if field.type in kinds}
    for place in range(len(about.schema)):
        ways = {way for group in groups for way in group.column(place).encodings}
        if any(way.startswith("DELTA") for way in ways):
            found.discard(about.schema.column(place).path)
    return sorted(found)


def _batches(path: Path, columns: list[str] | None) -> Iterator[Any]:
    """Batches of rows, of all columns or of those that are named; the first has no rows.

    Before anything is unpacked, the pages must be possible for the file's size. As many rows are
    unpacked at once as have room if each of them has the longest word that there can be.
    """
    import pyarrow as pa

    with _opened(path) as opened:
        schema = opened.file.schema_arrow
        kept = [schema.field(name) for name in columns or schema.names]
        yield pa.RecordBatch.from_pylist([], pa.schema(kept))
        rows, room = _rows_at_once(path, opened, columns), opened.room
        for batch in opened.file.iter_batches(rows, columns=columns):
            for column in batch.columns:
                parts = (column.indices, column.dictionary) if _is_words(column) else (column,)
                room -= sum(part.nbytes for part in parts)
            if room < 0:
                raise MentorNetError(f"{path} holds far more than its size allows")
            yield batch


def _rows_at_once(path: Path, opened: _Opened, columns: list[str] | None) -> int:
    """Check the pages of the columns, and return how many rows to unpack at once."""
    about, taken, longest, rows = opened.file.metadata, 0, 1, _ROWS
    for place in range(len(about.schema)):
        leaf = about.schema.column(place)
        name, dot, _ = leaf.path.partition(".")
        if columns is not None and name not in columns:
            continue
        rows = min(rows, _NESTED_ROWS if dot else _ROWS)
        for number in range(about.num_row_groups):
            chunk = about.row_group(number).column(place)
            found = measure(opened.raw, chunk, opened.size, opened.room - taken)
            word = found.word if leaf.physical_type == "BYTE_ARRAY" else _width(leaf)
            taken += found.unpacked
            if leaf.max_repetition_level:
                taken += found.values * (_VALUE + word)
            elif dot:
                taken += found.values * _VALUE
            if dot or found.prefixed or name not in opened.words:
                longest = max(longest, word)
            if taken > opened.room:
                raise MentorNetError(
                    f"{path} has pages that unpack to {taken:,} bytes or more, too many for a file "
                    f"of {opened.size:,} bytes"
                )
    return max(1, min(rows, _ROOM // longest))


def _width(leaf: Any) -> int:
    """The bytes of a number, or of one of several bytes strings of the same length."""
    return max(0, _WIDTHS.get(leaf.physical_type, leaf.length))


def _is_words(column: Any) -> bool:
    return hasattr(column, "dictionary")


def read_parquet(path: Path, columns: list[str]) -> dict[str, list[Any]]:
    """The named columns as lists of Python values."""
    found: dict[str, list[Any]] = {name: [] for name in columns}
    with reading(path, "as a parquet file"):
        for batch in _batches(path, columns):
            for name, values in found.items():
                values.extend(plain_values(batch.column(name)))
    return found


def read_table(path: Path, columns: list[str] | None = None) -> Any:
    """All columns, or those that are named, as a table of Arrow."""
    import pyarrow as pa

    with reading(path, "as a parquet file"):
        return pa.Table.from_batches(_batches(path, columns))


def plain_values(column: Any) -> list[Any]:
    """The values of an array; a word that is repeated is in memory once."""
    if not _is_words(column):
        return list(column.to_pylist())
    words = column.dictionary.to_pylist()
    return [None if place is None else words[place] for place in column.indices.to_pylist()]


def column_names(path: Path) -> list[str]:
    """The names of the columns; none of them twice."""
    with _opened(path) as opened:
        names = list(opened.file.schema_arrow.names)
    if len(set(names)) < len(names):
        raise MentorNetError(f"{path} has the columns {cut(', '.join(names))}, one of them twice")
    return names


def vector_columns(path: Path) -> list[str]:
    """The names of the columns in which every row is a list of numbers."""
    return [name for name, kind in _types(path).items() if is_vector(kind)]


def is_vector(kind: Any) -> bool:
    """Whether an Arrow type is that of lists of numbers."""
    import pyarrow as pa

    kinds = pa.types
    lists = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    return any(is_list(kind) for is_list in lists) and (
        kinds.is_floating(kind.value_type) or kinds.is_integer(kind.value_type)
    )


def plain_columns(path: Path) -> tuple[list[str], list[str]]:
    """The names of all columns, and of those that hold text, numbers or booleans."""
    types = _types(path)
    return list(types), [name for name, kind in types.items() if is_plain(kind)]


def is_plain(kind: Any) -> bool:
    """Whether an Arrow type is that of text, numbers or booleans."""
    import pyarrow as pa

    kinds = pa.types
    plain = (
        kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary,
        kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean, kinds.is_null,
    )  # fmt: skip
    inner = kind.value_type if kinds.is_dictionary(kind) else kind
    return any(fits(inner) for fits in plain)


def _types(path: Path) -> dict[str, Any]:
    """The type of each column; none of them is there twice."""
    names = column_names(path)
    with _opened(path) as opened:
        types = {field.name: field.type for field in opened.file.schema_arrow}
    return {name: types[name] for name in names}


def class_names(path: Path, column: str) -> tuple[str, ...] | None:
    """The class names of a column of labels, if the file has the metadata of Hugging Face."""
    with _opened(path) as opened:
        metadata = opened.file.schema_arrow.metadata or {}
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        names = features[column]["names"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return tuple(map(str, names)) if isinstance(names, list) else None
