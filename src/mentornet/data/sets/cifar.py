"""CIFAR-10 and CIFAR-100: searched for on this machine, and else downloaded."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mentornet.data.options import LoadOptions
from mentornet.data.progress import Progress
from mentornet.data.samples import Splits
from mentornet.data.sets.cifar_archive import fetch_cifar
from mentornet.data.sets.cifar_parquet import find_parquet, read_parquet_splits
from mentornet.data.sets.cifar_python import (
    CIFAR_FOLDERS,
    python_folder,
    read_cifar10,
    read_cifar100,
)
from mentornet.data.sets.dataset import Dataset
from mentornet.data.sets.places import cache_folder, data_folders
from mentornet.errors import MentorNetError

__all__ = ["CIFAR10", "CIFAR100", "load_cifar10", "load_cifar100"]


def load_cifar10(folder: Path, *, on_progress: Progress | None = None) -> Splits:
    """CIFAR-10 from the folder that holds, or is, `cifar-10-batches-py` or the parquet files."""
    return _read("cifar10", folder, on_progress)


def load_cifar100(folder: Path, *, on_progress: Progress | None = None) -> Splits:
    """CIFAR-100 with its fine labels, from `cifar-100-python` or the parquet files."""
    return _read("cifar100", folder, on_progress)


def _read(name: str, folder: Path, on_progress: Progress | None) -> Splits:
    files = python_folder(folder, name)
    if not files.is_dir() and (parquet := find_parquet(folder, name)):
        return read_parquet_splits(parquet, name, on_progress)
    return read_cifar10(files) if name == "cifar10" else read_cifar100(files)


def _load(name: str, options: LoadOptions) -> Splits:
    """Read the dataset from the folder that is named, from `data_folders`, or after a download."""
    folder = options.folder
    if folder is not None:
        if options.mirror is not None:
            raise MentorNetError(
                "give the setting folder or mirror, not both: a folder needs no download"
            )
        if not folder.is_dir():
            raise MentorNetError(f"{folder} is not a folder, so {name} is not in it")
        if not _is_in(folder, name):
            raise MentorNetError(
                f"{folder} holds neither {CIFAR_FOLDERS[name]} nor parquet files of {name}; "
                "to read an archive, name it in the setting mirror"
            )
    else:
        folder = next((place for place in data_folders() if _is_in(place, name)), None)
    if folder is None:
        folder = fetch_cifar(
            name, cache_folder(), mirror=options.mirror, on_progress=options.on_progress
        )
    return _read(name, folder, options.on_progress)


def _is_in(folder: Path, name: str) -> bool:
    """Whether the folder holds the files of the dataset, in either layout."""
    return python_folder(folder, name).is_dir() or find_parquet(folder, name) is not None


_FILES = (
    "The official python files or the parquet files of the Hugging Face hub, in `folder`, in "
    "MENTORNET_DATA or in the cache; else it is downloaded from its home or from `mirror`."
)

CIFAR10 = Dataset(
    "cifar10", f"Colour 32 × 32 images of 10 classes. {_FILES}", partial(_load, "cifar10"),
    shape=(3, 32, 32), classes=10, count=50_000, has_clean_labels=True,
    options=("folder", "mirror"),
)  # fmt: skip

CIFAR100 = Dataset(
    "cifar100", f"Colour 32 × 32 images of 100 classes. {_FILES}", partial(_load, "cifar100"),
    shape=(3, 32, 32), classes=100, count=50_000, has_clean_labels=True,
    options=("folder", "mirror"),
)  # fmt: skip
