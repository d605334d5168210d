"""CIFAR-10 and CIFAR-100 in their official python layout, read without trusting the pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from mentornet.data.files.restricted import BROKEN, unpickle
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.cifar_classes import grouped
from mentornet.errors import MentorNetError

__all__ = ["CIFAR_FOLDERS", "python_folder", "read_cifar10", "read_cifar100", "read_pickle"]

CIFAR_FOLDERS = {"cifar10": "cifar-10-batches-py", "cifar100": "cifar-100-python"}
"""The name of the folder in each official archive."""


def read_cifar10(files: Path) -> Splits:
    """CIFAR-10 from the folder `cifar-10-batches-py`."""
    names = _names(files / "batches.meta", "label_names")
    train = [files / f"data_batch_{number}" for number in range(1, 6)]
    return Splits(_read(train, "labels", names), _read([files / "test_batch"], "labels", names))


def read_cifar100(files: Path) -> Splits:
    """CIFAR-100 with its fine labels from the folder `cifar-100-python`."""
    names = _names(files / "meta", "fine_label_names")
    train = _read([files / "train"], "fine_labels", names)
    test = _read([files / "test"], "fine_labels", names)
    coarse = _labels(files / "train", read_pickle(files / "train"), "coarse_labels", len(train))
    return grouped(Splits(train, test), coarse)


def python_folder(folder: Path, name: str) -> Path:
    """The folder of the python files of `cifar10` or `cifar100`: inside `folder`, or itself."""
    official = CIFAR_FOLDERS[name]
    return folder if folder.name == official else folder / official


def read_pickle(path: Path) -> dict[str, Any]:
    """The dict in one of the files of CIFAR; a file that holds more than plain data is refused."""
    try:
        content = unpickle(path.read_bytes())
    except FileNotFoundError:
        raise MentorNetError(
            f"{path} is missing; is {path.parent} the folder with the files of CIFAR?"
        ) from None
    except BROKEN as error:
        raise MentorNetError(f"{path} is damaged or not a file of CIFAR: {error}") from None
    if not isinstance(content, dict):
        raise MentorNetError(f"{path} must hold a dict, got {type(content).__name__}")
    return content


def _names(path: Path, key: str) -> tuple[str, ...]:
    names = read_pickle(path).get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise MentorNetError(f"{path} must hold the class names under {key!r}")
    return tuple(names)


def _read(paths: list[Path], key: str, names: tuple[str, ...]) -> Samples:
    pixels, labels = [], []
    for path in paths:
        part = read_pickle(path)
        data = part.get("data")
        if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.shape[1:] != (3072,):
            raise MentorNetError(f"{path} must hold uint8 images of 3 × 32 × 32 under 'data'")
        pixels.append(data)
        labels.append(_labels(path, part, key, len(data)))
    images = torch.from_numpy(np.concatenate(pixels)).view(-1, 3, 32, 32)
    return Samples(images, torch.cat(labels), names)


def _labels(path: Path, part: dict[str, Any], key: str, count: int) -> torch.Tensor:
    labels = part.get(key)
    if not isinstance(labels, list) or len(labels) != count:
        raise MentorNetError(f"{path} must hold one label for each image under {key!r}")
    if not all(isinstance(label, int) for label in labels):
        raise MentorNetError(f"{path} must hold whole numbers under {key!r}")
    return torch.tensor(labels, dtype=torch.long)
