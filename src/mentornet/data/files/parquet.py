"""Parquet files as plain columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError

__all__ = ["class_names", "column_names", "read_parquet"]


def read_parquet(path: Path, columns: list[str] | None = None) -> dict[str, list[Any]]:
    """The columns by name as lists of Python values: all columns, or those that are named."""
    with _opened(path) as file:
        try:
            table = file.read(columns=columns)
        except (OSError, ValueError) as error:
            raise _damaged(path, error) from None
        return {name: table.column(name).to_pylist() for name in table.column_names}


def column_names(path: Path) -> list[str]:
    """The names of the columns."""
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def class_names(path: Path, column: str) -> tuple[str, ...] | None:
    """The class names of a column of labels, if the file has the metadata of Hugging Face."""
    with _opened(path) as file:
        metadata = file.schema_arrow.metadata or {}
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        names = features[column]["names"]
    except (KeyError, TypeError, ValueError):
        return None
    return tuple(map(str, names)) if isinstance(names, list) else None


def _opened(path: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> MentorNetError:
    return MentorNetError(f"{path} is damaged or not a parquet file: {error}")
