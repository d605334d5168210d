"""Columns beside vectors in NumPy's files: labels and splits, as text."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from mentornet.data.files.arrays import check_shape, read_array, read_header
from mentornet.errors import MentorNetError
from mentornet.files import BoundedReads, open_file, reading

__all__ = ["array_columns"]

_MOST = 1 << 30  # bytes of a column
_WORDS = re.compile(r"[<>|=]U([0-9]{1,4})")


def array_columns(path: Path, names: tuple[str, ...]) -> dict[str, list[str]]:
    """The columns of these names in a `.npz` file, or the one array of a `.npy` file, as text.

    Args:
        path: the file.
        names: arrays of other names are not read. A plain array has the first of these names.
    """
    with reading(path, "as labels"):
        if path.suffix.lower() == ".npy":
            with open_file(path) as file:
                return {names[0]: _column(path, names[0], file)}
        with BoundedReads(path) as file, zipfile.ZipFile(file) as archive:
            there = {name.removesuffix(".npy") for name in archive.namelist()}
            found = {}
            for name in names:
                if name in there:
                    with archive.open(f"{name}.npy") as member:
                        found[name] = _column(path, name, member)
            return found


def _column(path: Path, name: str, file: IO[bytes]) -> list[str]:
    header = read_header(file)
    words = _WORDS.fullmatch(header.descr) if isinstance(header.descr, str) else None
    if len(header.shape) != 1 or (words is None and header.descr[-2:-1] not in ("i", "u")):
        raise MentorNetError(
            f"{path}: {name} must be whole numbers or names, one for each sample, got "
            f"{header.descr!r:.40} of shape {header.shape}"
        )
    if words is None:
        return [f"{value}" for value in read_array(file, header).tolist()]
    dtype: np.dtype[Any] = np.dtype(header.descr)
    check_shape(header.shape)
    needed = header.shape[0] * dtype.itemsize
    content = file.read(min(needed, _MOST) + 1)
    if needed != len(content) or not needed:
        raise ValueError(f"an array of {needed:,} bytes has {len(content):,}")
    return [word.strip() for word in np.frombuffer(content, dtype).tolist()]
