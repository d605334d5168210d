"""Parquet files as plain columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError, cut
from mentornet.files import open_file, reading

__all__ = ["class_names", "column_names", "opened_parquet", "plain_values", "read_parquet"]

_ROOM, _RATIO = 1 << 28, 20  # a file may unpack to 256 MB, and to 20 times its size beyond that
_ROWS, _NESTED_ROWS = 1 << 16, 1_000  # rows that are unpacked at once


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """The file, opened. What it states of its content must be possible for its size.

    Text is read as a dictionary of words and the number of each row's word, because a small file
    can repeat a long word many times.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(path, "as a parquet file"), open_file(path) as raw:
        size, about = os.fstat(raw.fileno()).st_size, pq.read_metadata(raw)
        schema = about.schema.to_arrow_schema()
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        if about.num_rows > size or unpacked > _ROOM + _RATIO * size:
            raise MentorNetError(
                f"{path} states {about.num_rows:,} rows of {unpacked:,} bytes, too many for a "
                f"file of {size:,} bytes"
            )
        raw.seek(0)
        words = [field.name for field in schema if field.type in (pa.string(), pa.binary())]
        with pq.ParquetFile(raw, read_dictionary=words) as file:
            yield file


def read_parquet(path: Path, columns: list[str] | None = None) -> dict[str, list[Any]]:
    """The columns by name as lists of Python values: all columns, or those that are named."""
    import pyarrow as pa

    with opened_parquet(path) as file:
        found: dict[str, list[Any]] = {name: [] for name in columns or file.schema_arrow.names}
        nested = any(pa.types.is_nested(file.schema_arrow.field(name).type) for name in found)
        room = _ROOM + _RATIO * path.stat().st_size
        for batch in file.iter_batches(_NESTED_ROWS if nested else _ROWS, columns=[*found]):
            for name, values in found.items():
                column = batch.column(name)
                words = isinstance(column, pa.DictionaryArray)
                room -= column.indices.nbytes if words else column.nbytes
                if room < 0:
                    raise MentorNetError(f"{path} holds far more than its size allows")
                values.extend(plain_values(column))
        return found


def plain_values(column: Any) -> list[Any]:
    """The values of an array; a word that is repeated is in memory once."""
    if not hasattr(column, "dictionary"):
        return list(column.to_pylist())
    words = column.dictionary.to_pylist()
    return [None if place is None else words[place] for place in column.indices.to_pylist()]


def column_names(path: Path) -> list[str]:
    """The names of the columns; none of them twice."""
    with opened_parquet(path) as file:
        names = list(file.schema_arrow.names)
    if len(set(names)) < len(names):
        raise MentorNetError(f"{path} has the columns {cut(', '.join(names))}, one of them twice")
    return names


def class_names(path: Path, column: str) -> tuple[str, ...] | None:
    """The class names of a column of labels, if the file has the metadata of Hugging Face."""
    with opened_parquet(path) as file:
        metadata = file.schema_arrow.metadata or {}
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        names = features[column]["names"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return tuple(map(str, names)) if isinstance(names, list) else None
