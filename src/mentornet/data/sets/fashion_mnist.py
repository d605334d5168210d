"""Fashion-MNIST from its IDX files, plain or compressed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.dataset import Dataset
from mentornet.errors import MentorNetError

__all__ = ["FASHION_MNIST", "load_fashion_mnist", "read_idx"]

CLASSES = (
    "t-shirt", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip

DEBIAN = Path("/usr/share/dataset-fashion-mnist")
"""The folder that Debian's package dataset-fashion-mnist installs the files into."""


def load_fashion_mnist(folder: Path | None = None) -> Splits:
    """60,000 and 10,000 grey images of 28 × 28 pixels, from `folder` or else from `DEBIAN`."""
    folder = folder or DEBIAN
    return Splits(_read(folder, "train"), _read(folder, "t10k"))


def read_idx(path: Path) -> Tensor:
    """The array in an IDX file of bytes: magic 0 0 8 D, D big-endian sizes, then the data."""
    try:
        raw = path.read_bytes()
        content = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise MentorNetError(f"{path} cannot be read: {error}") from None
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise MentorNetError(f"{path} is not an IDX file of bytes")
    header = 4 + 4 * content[3]
    shape = np.frombuffer(content[4:header], ">u4").astype(int)
    if len(content) != header + shape.prod():
        raise MentorNetError(f"{path} must hold {shape.prod()} bytes, got {len(content) - header}")
    return torch.from_numpy(np.frombuffer(content[header:], np.uint8).reshape(shape).copy())


def _read(folder: Path, part: str) -> Samples:
    pixels = read_idx(_find(folder, f"{part}-images-idx3-ubyte"))
    label = read_idx(_find(folder, f"{part}-labels-idx1-ubyte"))
    return Samples(pixels.unsqueeze(1), label.long(), CLASSES)


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise MentorNetError(
        f"no {name} in {folder}; install Debian's dataset-fashion-mnist, "
        "or name the folder of the four IDX files"
    )


FASHION_MNIST = Dataset(
    "fashion-mnist",
    "Grey 28 × 28 pictures of clothes. The four IDX files, in `folder` or from Debian's "
    "dataset-fashion-mnist.",
    lambda options: load_fashion_mnist(options.folder), shape=(1, 28, 28), classes=10,
    count=60_000, has_clean_labels=True, options=("folder",),
)  # fmt: skip
