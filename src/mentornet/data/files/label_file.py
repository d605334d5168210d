"""Given labels from a file in the form of CIFAR-N: one array of labels under each key.

CIFAR-N is released as a dict of arrays, in a `.pt` file and in a pickled `.npy` file; a `.npz` file
of plain arrays is read too. Pickles are read with restricted readers, which never run code.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.data.files.restricted import BROKEN, RECONSTRUCT, unpickle
from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean

__all__ = ["label_keys", "read_labels"]


def read_labels(path: Path, key: str | None = None) -> Tensor:
    """The labels in a `.npz`, `.npy` or `.pt` file, `(N,)`, int64.

    Args:
        path: the file.
        key: the name of the labels; not needed if the file holds one array only.
    """
    content = _read(path)
    if key is None and len(content) == 1:
        (key,) = content
    if key is None:
        known = ", ".join(sorted(content))
        raise MentorNetError(f"{path} holds several arrays; say which, one of: {known}")
    if key not in content:
        raise MentorNetError(f"{path} holds no labels {key!r}; {did_you_mean(key, content)}")
    try:
        labels = np.asarray(content[key])
    except (TypeError, RuntimeError) as error:  # the tensor has no counterpart in NumPy
        raise MentorNetError(
            f"{path}: {key!r} must be whole numbers, one for each sample ({error})"
        ) from None
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise MentorNetError(
            f"{path}: {key!r} must be whole numbers, one for each sample, "
            f"got {labels.dtype} of shape {labels.shape}"
        )
    return torch.from_numpy(labels.astype(np.int64))


def label_keys(path: Path) -> tuple[str, ...]:
    """The names of the arrays in the file; a plain array is called `labels`."""
    return tuple(_read(path))


def _read(path: Path) -> dict[str, Any]:
    path = path.expanduser()
    if not path.is_file():
        raise MentorNetError(f"{path} is missing")
    readers = {".npz": _read_npz, ".npy": _read_npy, ".pt": _read_pt}
    if path.suffix not in readers:
        raise MentorNetError(f"labels must be in a .npz, .npy or .pt file, got {path.name}")
    try:
        content = readers[path.suffix](path)
    except (*BROKEN, OSError, RuntimeError, zipfile.BadZipFile) as error:
        raise MentorNetError(f"{path} cannot be read as labels: {error}") from None
    if isinstance(content, dict) and content:
        return {str(key): value for key, value in content.items()}
    if isinstance(content, np.ndarray | Tensor):
        return {"labels": content}
    raise MentorNetError(f"{path} must hold an array of labels, or several by name")


def _read_npz(path: Path) -> dict[str, Any]:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
        return dict(archive)


def _read_npy(path: Path) -> Any:
    """An array, or a dict inside an array, which NumPy reads only if it trusts the pickle."""
    raw = io.BytesIO(path.read_bytes())
    version = np.lib.format.read_magic(raw)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"version {version} of the format is unknown")
    *_, dtype = read_header(raw)
    if not dtype.hasobject:
        return np.load(path, allow_pickle=False)
    content = unpickle(raw.read())
    return content.item() if isinstance(content, np.ndarray) and content.ndim == 0 else content


def _read_pt(path: Path) -> Any:
    """Read with the restricted reader of PyTorch, which here allows NumPy arrays."""
    with torch.serialization.safe_globals(
        [np.ndarray, np.dtype, type(np.dtype(np.int64)), RECONSTRUCT]
    ):
        return torch.load(path, map_location="cpu", weights_only=True)
