"""CIFAR-10 and CIFAR-100 in their official python layout, read without trusting the pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.data.files.label_file import whole_numbers
from mentornet.data.files.pickled_parts import PickledArray
from mentornet.data.files.plain_pickle import LARGEST, unpickle
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.cifar_classes import grouped
from mentornet.errors import MentorNetError
from mentornet.files import read_bytes, reading

__all__ = ["CIFAR_FOLDERS", "python_folder", "read_cifar10", "read_cifar100", "read_pickle"]

CIFAR_FOLDERS = {"cifar10": "cifar-10-batches-py", "cifar100": "cifar-100-python"}
"""The name of the folder in each official archive."""


def read_cifar10(files: Path) -> Splits:
    """CIFAR-10 from the folder `cifar-10-batches-py`."""
    names = _names(files / "batches.meta", "label_names")
    train = [files / f"data_batch_{number}" for number in range(1, 6)]
    test = [files / "test_batch"]
    return Splits(_read(train, names, "labels")[0], _read(test, names, "labels")[0])


def read_cifar100(files: Path) -> Splits:
    """CIFAR-100 with its fine labels from the folder `cifar-100-python`."""
    names = _names(files / "meta", "fine_label_names")
    train, coarse = _read([files / "train"], names, "fine_labels", "coarse_labels")
    test, _ = _read([files / "test"], names, "fine_labels")
    return grouped(Splits(train, test), coarse)


def python_folder(folder: Path, name: str) -> Path:
    """The folder of the python files of `cifar10` or `cifar100`: inside `folder`, or itself."""
    official = CIFAR_FOLDERS[name]
    return folder if folder.name == official else folder / official


def read_pickle(path: Path) -> dict[str, Any]:
    """The dict in one of the files of CIFAR; a file that holds more than plain data is refused."""
    if not path.exists():
        raise MentorNetError(
            f"{path} is missing; is {path.parent} the folder with the files of CIFAR?"
        )
    with reading(path, "as a file of CIFAR"):
        content = unpickle(read_bytes(path, LARGEST))
    if not isinstance(content, dict):
        raise MentorNetError(f"{path} must hold a dict, got {type(content).__name__}")
    return content


def _names(path: Path, key: str) -> tuple[str, ...]:
    names = read_pickle(path).get(key)
    if not isinstance(names, list) or not all(isinstance(name, _TEXT) for name in names):
        raise MentorNetError(f"{path} must hold the class names under {key!r}")
    with reading(path, "as class names"):
        return tuple(name if isinstance(name, str) else str(name, "utf-8") for name in names)


_TEXT = (str, bytes, memoryview)  # bytes if the file was read as bytes and written again


def _read(
    paths: list[Path], names: tuple[str, ...], key: str, other: str | None = None
) -> tuple[Samples, torch.Tensor]:
    """The images of one part, with their labels under `key`, and the labels under `other`."""
    pixels, labels, others = [], [], []
    for path in paths:
        part = read_pickle(path)
        pixels.append(_pixels(path, part.get("data")))
        labels.append(_labels(path, part, key, len(pixels[-1])))
        others.append(_labels(path, part, other or key, len(pixels[-1])))
    images = torch.from_numpy(np.concatenate(pixels)).view(-1, 3, 32, 32)
    return Samples(images, torch.cat(labels), names), torch.cat(others)


def _pixels(path: Path, data: Any) -> NDArray[np.uint8]:
    """The images, `(N, 3072)`. Whole numbers of any type are pixels if they are in 0–255."""
    data = data.value if isinstance(data, PickledArray) else None
    if (
        not isinstance(data, np.ndarray)
        or data.dtype.kind not in "iu"
        or data.shape[1:] != (3072,)
        or (data.dtype != np.uint8 and data.size and not 0 <= data.min() <= data.max() <= 255)
    ):
        raise MentorNetError(f"{path} must hold images of 3 × 32 × 32 in 0–255 under 'data'")
    return np.ascontiguousarray(data, np.uint8)


def _labels(path: Path, part: dict[str, Any], key: str, count: int) -> torch.Tensor:
    try:
        labels = whole_numbers(part.get(key))
    except ValueError as error:
        raise MentorNetError(f"{path} must hold whole numbers under {key!r}, {error}") from None
    if len(labels) != count:
        raise MentorNetError(f"{path} must hold one label for each image under {key!r}")
    return torch.from_numpy(labels)
