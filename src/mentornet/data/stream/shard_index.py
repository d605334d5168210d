"""The index of packed shards: `index.parquet`, with one row for each sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mentornet.errors import MentorNetError
from mentornet.files import reading
from mentornet.parquet import column_names, plain_values, read_table

__all__ = ["Table", "read_index"]

Table = dict[str, NDArray[Any]]
"""The columns by name, `(N,)` each."""

_NUMBERS = {"shard": 0, "offset": 0, "size": 1, "given_label": 0, "true_label": -1}
"""The columns of whole numbers, and the least value of each."""

_TEXTS = ("part", "path")


def read_index(path: Path) -> Table:
    """Read the columns; every one has its type and its range."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = column_names(path)
    for name in (*_NUMBERS, *_TEXTS):
        if name not in names:
            raise MentorNetError(f"{path} must have one column {name}; pack the data again")
    table = read_table(path, [*_NUMBERS, *_TEXTS])
    with reading(path, "as a parquet file"):
        for name, least in _NUMBERS.items():
            column = table[name]
            if not pa.types.is_integer(column.type) or column.null_count:
                raise MentorNetError(f"{path}: {name} must be whole numbers, got {column.type}")
            if len(column) and pc.min(column).as_py() < least:
                raise MentorNetError(f"{path}: {name} must be ≥ {least}")
        for name in _TEXTS:
            kind, missing = table[name].type, table[name].null_count
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            if missing not in (0, len(table)) or (missing and name == "part"):
                raise MentorNetError(f"{path}: {name} is missing in some rows")
            if not is_text and not (missing and pa.types.is_null(kind)):
                raise MentorNetError(f"{path}: {name} must be text, got {kind}")
        numbers = {name: table[name].cast(pa.int64()).to_numpy() for name in _NUMBERS}
        return numbers | {name: _texts(table[name]) for name in _TEXTS}


def _texts(column: Any) -> NDArray[Any]:
    found = np.empty(len(column), object)
    found[:] = [text for chunk in column.chunks for text in plain_values(chunk)]
    return found
