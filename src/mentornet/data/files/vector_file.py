"""Vectors from a file, one for each sample: embeddings, features, or predicted probabilities.

They come as a `.npy` file, as an array in a `.npz` file, or as a Parquet column of lists. What a
file states is compared with its bytes before any memory is taken, and nothing is unpickled.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.data.files.arrays import ArrayHeader, plain_dtype, read_array, read_header
from mentornet.errors import MentorNetError, cut
from mentornet.files import BoundedReads, open_file, reading
from mentornet.names import did_you_mean
from mentornet.parquet import read_table, vector_columns

__all__ = ["VECTOR_FILES", "finite", "pick_vectors", "read_vectors", "vectors_of"]

VECTOR_FILES = (".npy", ".npz", ".parquet")
"""The endings of the files that `read_vectors` reads."""

_NAMES = ("features", "embeddings", "probabilities")  # looked for if a file holds several arrays
_ROOM, _RATIO = 1 << 27, 20  # a part may unpack to 128 MB, and to 20 times its size beyond that


def read_vectors(path: Path, key: str | None = None) -> Tensor:
    """The vectors in a `.npy`, `.npz` or `.parquet` file, `(N, D)`, float32.

    Args:
        path: the file.
        key: the name of the array in a `.npz` file, or of the column in a Parquet file. It is not
            needed if there is only one, or if one is called features, embeddings or probabilities.

    Raises:
        MentorNetError: if the file holds no such vectors, if they differ in length, or if one of
            them has a value that is not finite; the message names the row, counted from 0.
    """
    path = path.expanduser()
    readers: dict[str, Callable[[Path, str | None], NDArray[Any]]] = {
        ".npy": _read_npy, ".npz": _read_npz, ".parquet": _read_parquet,
    }  # fmt: skip
    if path.suffix.lower() not in readers:
        raise MentorNetError(
            f"vectors must be in a .npy, .npz or .parquet file, got {cut(path.name)}"
        )
    with reading(path, "as vectors"):
        found = readers[path.suffix.lower()](path, key)
    return finite(path, found)


def finite(path: Path, found: NDArray[Any]) -> Tensor:
    """The vectors of a file as float32; an error if one of them has a value that is not finite."""
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is named
        vectors = torch.from_numpy(found.astype(np.float32))
    bad = ~vectors.isfinite()
    if bad.any():
        row, place = bad.nonzero()[0].tolist()
        value = vectors[row, place].item()
        raise MentorNetError(
            f"{path}, row {row} (from 0): value {place} is {value}; {_rows(bad)} not finite: leave "
            "such rows out, or fill them in"
        )
    return vectors


def _rows(bad: Tensor) -> str:
    count = int(bad.any(1).sum())
    return "this row is" if count == 1 else f"{count:,} rows are"


def _read_npy(path: Path, key: str | None) -> NDArray[Any]:
    if key is not None:
        raise MentorNetError(f"{path} holds one array without a name, so {cut(key)!r} is not there")
    with open_file(path) as file:
        header = read_header(file)
        return _read_data(path, file, header, os.fstat(file.fileno()).st_size - file.tell())


def _read_npz(path: Path, key: str | None) -> NDArray[Any]:
    with BoundedReads(path) as file, zipfile.ZipFile(file) as archive:
        parts = {part.filename.removesuffix(".npy"): part for part in archive.infolist()}
        part = parts[_chosen(path, key, parts, "arrays")]
        room = _ROOM + _RATIO * part.compress_size
        if part.file_size > room:
            raise ValueError(
                f"it states an array of {part.file_size:,} bytes that is packed into "
                f"{part.compress_size:,}"
            )
        with archive.open(part) as member:
            header = read_header(member)
            return _read_data(path, member, header, part.file_size - member.tell())


def _read_data(path: Path, file: IO[bytes], header: ArrayHeader, there: int) -> NDArray[Any]:
    """The array behind a header, for which the file has so many bytes."""
    dtype = plain_dtype(header.descr)
    if len(header.shape) != 2 or 0 in header.shape:
        raise MentorNetError(
            f"{path} must hold one vector for each sample, of shape (N, D), got {header.shape}"
        )
    needed = math.prod(header.shape) * dtype.itemsize
    if needed != there:
        raise ValueError(f"an array of {needed:,} bytes has {there:,}; was the file cut short?")
    return read_array(file, header)


def _read_parquet(path: Path, key: str | None) -> NDArray[Any]:
    name = pick_vectors(f"{path}", key, vector_columns(path))
    return vectors_of(path, read_table(path, [name]).column(name).chunks)


def vectors_of(path: Path, chunks: Iterable[Any]) -> NDArray[Any]:
    """The vectors in a column of lists, `(N, D)`.

    Args:
        path: the file, for messages.
        chunks: arrays of Arrow.
    """
    rows: list[NDArray[Any]] = []
    start, width = 0, None
    for chunk in chunks:
        if len(chunk) == 0:
            continue
        vectors, width = _vectors(path, chunk, start, width)
        rows.append(vectors)
        start += len(chunk)
    if not rows:
        raise MentorNetError(f"{path} has no rows")
    return np.concatenate(rows)


def _vectors(path: Path, chunk: Any, start: int, width: int | None) -> tuple[NDArray[Any], int]:
    """The vectors of some rows, and how long each is; `start` is the number of the first row."""
    lengths = chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if width is None else width
    odd = np.flatnonzero((lengths != width) | (lengths == 0))
    if len(odd):
        row = int(odd[0])
        raise MentorNetError(
            f"{path}, row {start + row} (from 0): its vector has {lengths[row]} values, "
            f"expected {width or 'at least 1'}"
        )
    values = chunk.flatten()
    numbers = values.to_numpy(zero_copy_only=False)  # a value that is missing becomes NaN
    return numbers.astype(np.float32).reshape(len(chunk), width), width


def pick_vectors(where: str, key: str | None, there: Collection[str]) -> str:
    """The name of the column of vectors that is asked for, or the only one that it can be.

    Args:
        where: the file, for messages.
        key: the name, if one is asked for.
        there: the columns of lists of numbers.
    """
    return _chosen(where, key, there, "columns of lists of numbers")


def _chosen(path: Path | str, key: str | None, there: Collection[str], what: str) -> str:
    """The name that is asked for, or the only one that it can be."""
    if not there:
        raise MentorNetError(f"{path} holds no {what}")
    if key is None and len(there) == 1:
        return next(iter(there))
    if key is None:
        usual = [name for name in _NAMES if name in there]
        if len(usual) != 1:
            known = cut(", ".join(sorted(there)), 200)
            raise MentorNetError(f"{path} holds several {what}; say which, one of: {known}")
        return usual[0]
    if key not in there:
        raise MentorNetError(f"{path} holds no {cut(key)!r}; {did_you_mean(key, there)}")
    return key
