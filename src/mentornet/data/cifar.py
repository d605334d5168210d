"""CIFAR-10 and CIFAR-100 in their official python layout, read without trusting the pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from mentornet.data.images import Images, Splits
from mentornet.data.restricted import BROKEN, unpickle
from mentornet.errors import MentorNetError

__all__ = ["load_cifar10", "load_cifar100", "read_pickle"]


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


def load_cifar10(folder: Path) -> Splits:
    """CIFAR-10 from the folder that holds, or is, `cifar-10-batches-py`."""
    folder = _inside(folder, "cifar-10-batches-py")
    names = tuple(read_pickle(folder / "batches.meta")["label_names"])
    train = [folder / f"data_batch_{number}" for number in range(1, 6)]
    return Splits(_read(train, "labels", names), _read([folder / "test_batch"], "labels", names))


def load_cifar100(folder: Path) -> Splits:
    """CIFAR-100 with its fine labels, from the folder that holds, or is, `cifar-100-python`."""
    folder = _inside(folder, "cifar-100-python")
    names = tuple(read_pickle(folder / "meta")["fine_label_names"])
    train = _read([folder / "train"], "fine_labels", names)
    coarse = torch.tensor(read_pickle(folder / "train")["coarse_labels"])
    groups = torch.empty(len(names), dtype=torch.long)
    groups[train.given_label] = coarse
    test = _read([folder / "test"], "fine_labels", names)
    return Splits(
        Images(train.pixels, train.given_label, names, groups=groups),
        Images(test.pixels, test.given_label, names, groups=groups),
    )


def _inside(folder: Path, name: str) -> Path:
    return folder if folder.name == name else folder / name


def _read(paths: list[Path], key: str, names: tuple[str, ...]) -> Images:
    parts = [(path, read_pickle(path)) for path in paths]
    for path, part in parts:
        data = part.get("data")
        if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.shape[1:] != (3072,):
            raise MentorNetError(f"{path} must hold uint8 images of 3 × 32 × 32 under 'data'")
        if len(part.get(key, ())) != len(data):
            raise MentorNetError(f"{path} must hold one label an image under {key!r}")
    pixels = torch.from_numpy(np.concatenate([part["data"] for _, part in parts]))
    label = torch.tensor([label for _, part in parts for label in part[key]])
    return Images(pixels.view(-1, 3, 32, 32), label, names)
