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

__all__ = ["class_names", "column_names", "opened_parquet", "read_parquet"]

_ROWS = 1_000  # rows that are unpacked at once
_ROOM, _RATIO = 1 << 28, 20  # a file may unpack to 256 MB, and to 20 times its size beyond that


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """The file, opened. What it states of its content must be possible for its size."""
    import pyarrow.parquet as pq

    with reading(path, "as a parquet file"), open_file(path) as raw, pq.ParquetFile(raw) as file:
        size, about = os.fstat(raw.fileno()).st_size, file.metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        if about.num_rows > size or unpacked > _ROOM + _RATIO * size:
            raise MentorNetError(
                f"{path} states {about.num_rows:,} rows of {unpacked:,} bytes, too many for a "
                f"file of {size:,} bytes"
            )
        yield file


def read_parquet(path: Path, columns: list[str] | None = None) -> dict[str, list[Any]]:
    """The columns by name as lists of Python values: all columns, or those that are named."""
    with opened_parquet(path) as file:
        found: dict[str, list[Any]] = {}
        room = _ROOM + _RATIO * path.stat().st_size
        for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
            room -= batch.nbytes
            if room < 0:
                raise MentorNetError(f"{path} holds far more than its size allows")
            for name in batch.schema.names:
                found.setdefault(name, []).extend(batch.column(name).to_pylist())
        return found or {name: [] for name in columns or file.schema_arrow.names}


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
