"""A transition matrix from a file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["read_transition"]


def read_transition(path: Path) -> Tensor:
    """The matrix in a `.npy` file, or in a `.csv` of plain numbers, as float64 `(K, K)`.

    The rows are checked when the matrix is used.
    """
    path = path.expanduser()
    if not path.is_file():
        raise MentorNetError(f"{path} is missing")
    try:
        matrix = _read_csv(path) if path.suffix == ".csv" else np.load(path, allow_pickle=False)
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise MentorNetError(f"{path} cannot be read as a transition matrix: {error}") from None
    if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in "iuf" or matrix.ndim != 2:
        raise MentorNetError(
            f"{path} must hold one matrix of real numbers, with K rows and K columns"
        )
    return torch.from_numpy(matrix.astype(np.float64))


def _read_csv(path: Path) -> np.typing.NDArray[np.float64]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("its rows differ in length")
    return np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
