"""A transition matrix from a file."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.data.files.arrays import read_array, read_header
from mentornet.errors import MentorNetError
from mentornet.files import open_file, read_bytes, reading

__all__ = ["read_transition"]


_MOST = 1 << 25  # bytes of the largest file


def read_transition(path: Path, classes: int | None = None) -> Tensor:
    """The matrix in a `.npy` file, or in a `.csv` of plain numbers, as float64 `(K, K)`.

    The rows are checked when the matrix is used.

    Args:
        path: the file.
        classes: K, if it is known; a matrix of another size is an error.
    """
    path = path.expanduser()
    with reading(path, "as a transition matrix"):
        matrix = _read_csv(path) if path.suffix == ".csv" else _read_npy(path, classes)
    if matrix.dtype.kind not in "iuf" or matrix.ndim != 2:
        raise MentorNetError(
            f"{path} must hold one matrix of real numbers, with K rows and K columns"
        )
    _check_size(path, matrix.shape, classes)
    return torch.from_numpy(matrix.astype(np.float64))


def _check_size(path: Path, shape: tuple[int, ...], classes: int | None) -> None:
    if classes is not None and shape != (classes, classes):
        raise MentorNetError(
            f"{path} must be {classes} × {classes}, a row and a column for each class, "
            f"got {' × '.join(map(str, shape))}"
        )


def _read_npy(path: Path, classes: int | None) -> NDArray[Any]:
    with open_file(path) as file:
        header = read_header(file)
        if len(header.shape) == 2:
            _check_size(path, header.shape, classes)
        if math.prod(header.shape) * 8 > _MOST:
            raise ValueError(f"it states the shape {header.shape}")
        return read_array(file, header)


def _read_csv(path: Path) -> NDArray[np.float64]:
    text = read_bytes(path, _MOST).decode("utf-8-sig")
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("its rows differ in length")
    return np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
