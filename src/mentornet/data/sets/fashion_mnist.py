"""Fashion-MNIST from its IDX files, plain or compressed."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path

import torch
from torch import Tensor

from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.dataset import Dataset
from mentornet.errors import MentorNetError
from mentornet.files import open_file, reading

__all__ = ["FASHION_MNIST", "load_fashion_mnist", "read_idx"]

CLASSES = (
    "t-shirt", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
"""The folder that Debian's package dataset-fashion-mnist installs the files into."""

_MOST = 1 << 28  # bytes of the largest array; the images of Fashion-MNIST take 47 million


def load_fashion_mnist(folder: Path | None = None) -> Splits:
    """60,000 and 10,000 grey images of 28 × 28 pixels, from `folder` or else from `DEBIAN`."""
    folder = folder or DEBIAN
    return Splits(_read(folder, "train"), _read(folder, "t10k"))


def read_idx(path: Path) -> Tensor:
    """The array in an IDX file of bytes: magic 0 0 8 D, D big-endian sizes, then the data."""
    with reading(path, "as IDX"), open_file(path) as raw:
        file = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        magic = file.read(4)
        if magic[:3] != b"\0\0\x08" or magic[3:] not in (b"\1", b"\2", b"\3"):
            raise MentorNetError(f"{path} is not an IDX file of bytes")
        shape = struct.unpack(f">{magic[3]}I", file.read(4 * magic[3]))
        size = math.prod(shape)
        if not 0 < size <= _MOST:
            raise MentorNetError(f"{path} states the shape {shape}; 1 to {_MOST:,} bytes are read")
        content = bytearray(file.read(size + 1))
    if len(content) != size:
        found = len(content) if len(content) < size else "more"
        raise MentorNetError(f"{path} must hold {size} bytes, got {found}")
    return torch.frombuffer(content, dtype=torch.uint8).view(shape)


def _read(folder: Path, part: str) -> Samples:
    images, labels = (
        _find(folder, f"{part}-{name}-ubyte") for name in ("images-idx3", "labels-idx1")
    )
    pixels, label = read_idx(images), read_idx(labels)
    for path, array, dimensions in ((images, pixels, 3), (labels, label, 1)):
        if array.ndim != dimensions:
            raise MentorNetError(f"{path} must have {dimensions} dimensions, got {array.ndim}")
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
