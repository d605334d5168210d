"""Given labels from a file in the form of CIFAR-N: one array of labels under each key.

CIFAR-N is released as a dict of arrays and lists, in a `.pt` file and in a pickled `.npy` file; a
`.npz` file of plain arrays is read too. Only the labels that are asked for are read from a `.npz`
file and from the storages of a `.pt` file. Nothing in these files can run (see `plain_pickle`).
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.data.files import torch_file
from mentornet.data.files.arrays import read_array, read_header
from mentornet.data.files.pickled_parts import PickledArray
from mentornet.data.files.pickled_parts import Tensor as PickledTensor
from mentornet.data.files.plain_pickle import LARGEST, unpickle
from mentornet.errors import MentorNetError, cut
from mentornet.files import BoundedReads, open_file, read_bytes, reading
from mentornet.names import did_you_mean

__all__ = ["label_keys", "read_labels", "whole_numbers"]

_MOST = 10**8  # labels that are read if the number of samples is not known

_Arrays = dict[str, Callable[[int], Any]]
"""By key, a function that reads an array of at most so many labels."""


def read_labels(path: Path, key: str | None = None, *, count: int | None = None) -> Tensor:
    """The labels in a `.npz`, `.npy` or `.pt` file, `(N,)`, int64.

    Args:
        path: the file.
        key: the name of the labels; not needed if the file holds one array only.
        count: N, if it is known; another number of labels is an error.
    """
    with _opened(path) as content:
        if key is None and len(content) == 1:
            (key,) = content
        if key is None:
            known = ", ".join(sorted(content))
            raise MentorNetError(f"{path} holds several arrays; say which, one of: {known}")
        if key not in content:
            raise MentorNetError(
                f"{path} holds no labels {cut(key)!r}; {did_you_mean(key, content)}"
            )
        try:
            labels = whole_numbers(content[key](_MOST if count is None else count))
        except _Odd as error:
            raise MentorNetError(
                f"{path}: {cut(key)!r} must be whole numbers, one for each sample, {error}"
            ) from None
    if count is not None and len(labels) != count:
        raise MentorNetError(f"{path} holds {len(labels)} labels for {count} training samples")
    return torch.from_numpy(labels)


def label_keys(path: Path) -> tuple[str, ...]:
    """The names of the arrays in the file; a plain array is called `labels`."""
    with _opened(path) as content:
        return tuple(content)


class _Odd(ValueError):  # noqa: N818 - never leaves this file
    """The array holds no labels."""


def whole_numbers(value: Any) -> NDArray[np.int64]:
    """An array or a list from a pickle as labels; a `ValueError` says what it is if it is none."""
    if isinstance(value, PickledArray):
        value = value.value
    if isinstance(value, PickledTensor):
        value = value.array()
    if isinstance(value, list):
        if not all(type(label) is int and abs(label) < 1 << 63 for label in value):
            raise _Odd("got a list of other things")
        value = np.array(value, np.int64)
    if not isinstance(value, np.ndarray):
        raise _Odd(f"got {type(value).__name__}")
    if value.ndim != 1 or value.dtype.kind not in "iu":
        raise _Odd(f"got {value.dtype} of shape {value.shape}")
    if len(value) and int(value.max()) >= 1 << 63:
        raise _Odd(f"got {int(value.max())}")
    return value.astype(np.int64)


@contextmanager
def _opened(path: Path) -> Iterator[_Arrays]:
    """The arrays in a file, which can be read as long as it is open."""
    path = path.expanduser()
    readers = {".npz": _open_npz, ".npy": _open_npy, ".pt": _open_pt}
    if path.suffix not in readers:
        raise MentorNetError(f"labels are read from a .npz, .npy or .pt file, got {path.name}")
    with reading(path, "as labels"), readers[path.suffix](path) as content:
        if not content:
            raise MentorNetError(f"{path} must hold an array of labels, or several by name")
        yield content


@contextmanager
def _open_npz(path: Path) -> Iterator[_Arrays]:
    with BoundedReads(path) as file, zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]

        def read(name: str, most: int) -> Any:
            with archive.open(name) as member:
                return _read_plain(member, most)

        yield {name.removesuffix(".npy"): partial(read, name) for name in names}


@contextmanager
def _open_npy(path: Path) -> Iterator[_Arrays]:
    """An array, or a dict inside an array, which NumPy reads only if it trusts the pickle."""
    with open_file(path) as file:
        header = read_header(file)
        start = file.tell()
        file.seek(0)
        if "O" not in header.descr:
            yield {"labels": partial(_read_plain, file)}
            return
    content = unpickle(read_bytes(path, LARGEST)[start:])
    yield _by_name(content.value if isinstance(content, PickledArray) else content)


@contextmanager
def _open_pt(path: Path) -> Iterator[_Arrays]:
    with torch_file.opened(path) as content:
        yield _by_name(content)


def _by_name(content: Any) -> _Arrays:
    if isinstance(content, list | PickledArray | PickledTensor):
        content = {"labels": content}
    if not isinstance(content, dict):
        return {}
    return {key: lambda _, value=value: value for key, value in content.items()}  # type: ignore[misc]


def _read_plain(file: Any, most: int) -> NDArray[Any]:
    header = read_header(file)
    count = math.prod(header.shape)
    if len(header.shape) == 1 and count > most:
        raise ValueError(f"it has {count:,} labels, expected {most:,}")
    if len(header.shape) != 1:
        raise _Odd(f"got {header.descr} of shape {header.shape}")
    return read_array(file, header)
