"""Given labels from a file, in CIFAR-N's form: one array of labels under each key.

The release holds a dict of arrays, as `.pt` and as a pickled `.npy`; a `.npz` of plain arrays
serves as well. Pickles go through restricted readers: nothing in a file is ever run.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.data.restricted import BROKEN, RECONSTRUCT, unpickle
from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean

__all__ = ["read_labels"]


def read_labels(path: Path, key: str) -> Tensor:
    """The labels under `key` in a `.npz`, `.npy` or `.pt` file, `(N,)`, int64."""
    if not path.is_file():
        raise MentorNetError(f"{path} is missing")
    readers = {".npz": _read_npz, ".npy": _read_npy, ".pt": _read_pt}
    if path.suffix not in readers:
        raise MentorNetError(f"labels must be in a .npz, .npy or .pt file, got {path.name}")
    try:
        content = readers[path.suffix](path)
    except (*BROKEN, RuntimeError, zipfile.BadZipFile) as error:
        raise MentorNetError(f"{path} cannot be read as labels: {error}") from None
    if not isinstance(content, dict) or key not in content:
        known = content if isinstance(content, dict) else ()
        raise MentorNetError(f"{path} holds no labels {key!r}; {did_you_mean(key, known)}")
    labels = np.asarray(content[key])
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise MentorNetError(
            f"{path}: {key!r} must be whole numbers, one a sample, "
            f"got {labels.dtype} of shape {labels.shape}"
        )
    return torch.from_numpy(labels.astype(np.int64))


def _read_npz(path: Path) -> dict[str, Any]:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
        return dict(archive)


def _read_npy(path: Path) -> Any:
    """A dict inside a 0-d object array, which NumPy itself reads only by trusting the pickle."""
    raw = io.BytesIO(path.read_bytes())
    version = np.lib.format.read_magic(raw)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"version {version} of the format is not known")
    read_header(raw)
    content = unpickle(raw.read())
    return content.item() if isinstance(content, np.ndarray) and content.ndim == 0 else content


def _read_pt(path: Path) -> Any:
    """Torch's own restricted reader, told that NumPy arrays are fine."""
    with torch.serialization.safe_globals(
        [np.ndarray, np.dtype, type(np.dtype(np.int64)), RECONSTRUCT]
    ):
        return torch.load(path, map_location="cpu", weights_only=True)
