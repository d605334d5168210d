"""CIFAR-10 and CIFAR-100 in their official python layout, read without trusting the pickle.

Where a folder holds the Hugging Face hub's parquet files instead, those are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from mentornet.data.files.restricted import BROKEN, unpickle
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.cifar_classes import grouped
from mentornet.data.sets.cifar_parquet import find_parquet, read_parquet_splits
from mentornet.errors import MentorNetError

__all__ = ["CIFAR_FOLDERS", "has_cifar", "load_cifar10", "load_cifar100", "read_pickle"]

CIFAR_FOLDERS = {"cifar10": "cifar-10-batches-py", "cifar100": "cifar-100-python"}
"""What the official archives call the folder with their files."""


def load_cifar10(folder: Path, *, on_progress: Progress | None = None) -> Splits:
    """CIFAR-10 from the folder that holds, or is, `cifar-10-batches-py` or the parquet files."""
    files = _inside(folder, "cifar10")
    if not files.is_dir() and (parquet := find_parquet(folder, "cifar10")):
        return read_parquet_splits(parquet, "cifar10", on_progress)
    names = _names(files / "batches.meta", "label_names")
    train = [files / f"data_batch_{number}" for number in range(1, 6)]
    return Splits(_read(train, "labels", names), _read([files / "test_batch"], "labels", names))


def load_cifar100(folder: Path, *, on_progress: Progress | None = None) -> Splits:
    """CIFAR-100 with its fine labels; `cifar-100-python` or the parquet files, as above."""
    files = _inside(folder, "cifar100")
    if not files.is_dir() and (parquet := find_parquet(folder, "cifar100")):
        return read_parquet_splits(parquet, "cifar100", on_progress)
    names = _names(files / "meta", "fine_label_names")
    train = _read([files / "train"], "fine_labels", names)
    test = _read([files / "test"], "fine_labels", names)
    coarse = _labels(files / "train", read_pickle(files / "train"), "coarse_labels", len(train))
    return grouped(Splits(train, test), coarse)


def has_cifar(name: str, folder: Path) -> bool:
    """Whether the folder holds the files of `cifar10` or `cifar100`, in either layout."""
    return _inside(folder, name).is_dir() or find_parquet(folder, name) is not None


def read_pickle(path: Path) -> dict[str, Any]:
    """The dict in one of CIFAR's files; one that holds anything but plain data is refused."""
    try:
        content = unpickle(path.read_bytes())
    except FileNotFoundError:
        raise MentorNetError(
            f"{path} is missing; is {path.parent} the folder of CIFAR's files?"
        ) from None
    except BROKEN as error:
        raise MentorNetError(f"{path} is damaged or not one of CIFAR's files: {error}") from None
    if not isinstance(content, dict):
        raise MentorNetError(f"{path} must hold a dict, got {type(content).__name__}")
    return content


def _inside(folder: Path, name: str) -> Path:
    official = CIFAR_FOLDERS[name]
    return folder if folder.name == official else folder / official


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
        raise MentorNetError(f"{path} must hold one label an image under {key!r}")
    if not all(isinstance(label, int) for label in labels):
        raise MentorNetError(f"{path} must hold whole numbers under {key!r}")
    return torch.tensor(labels, dtype=torch.long)
