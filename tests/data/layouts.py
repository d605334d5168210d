"""Miniature copies of ImageNet's and WebVision's folders, a few dozen JPEGs each."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

SYNSETS = ("n01440764", "n01443537", "n01484850")


def jpeg(label: int, number: int, width: int = 60, height: int = 48) -> bytes:
    """A photograph of class `label`: a ramp whose direction and colour tell the class."""
    rows, columns = np.mgrid[0:height, 0:width] / max(width, height)
    noise = np.random.default_rng(1000 * label + number).normal(0, 12, (height, width, 3))
    ramp = np.stack([rows, columns, 1 - rows])[np.roll(np.arange(3), label)]
    pixels = (255 * ramp.transpose(1, 2, 0) + noise).clip(0, 255).astype(np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "JPEG", quality=90)
    return content.getvalue()


def put(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_imagenet(folder: Path, *, train: int = 12, val: int = 4, flat: bool = False) -> Path:
    """`train/<synset>/` and `val/<synset>/`, or a flat `val/` with Kaggle's list of its classes."""
    rows = ["ImageId,PredictionString"]
    for label, synset in enumerate(SYNSETS):
        for number in range(train):
            name = f"{synset}_{number}.JPEG"
            put(folder / "train" / synset / name, jpeg(label, number, 50 + number, 60 - number))
        for number in range(val):
            name = f"ILSVRC2012_val_{10 * label + number:08d}"
            home = folder / "val" if flat else folder / "val" / synset
            put(home / f"{name}.JPEG", jpeg(label, 500 + number))
            rows.append(f"{name},{synset} 0 0 10 10")
    if flat:
        put(folder / "LOC_val_solution.csv", "\n".join(rows) + "\n")
    return folder


def write_webvision(folder: Path, *, train: int = 8, val: int = 3) -> Path:
    """Both parts, two queries a class, every fourth image of another class than its query's."""
    lists: dict[str, list[str]] = {"google": [], "flickr": [], "val": []}
    for label in range(len(SYNSETS)):
        for place, part in enumerate(("google", "flickr")):
            for number in range(train):
                query = 2 * label + 1 + number % 2
                name = f"{part}/q{query:04d}/{number}_{place}.jpg"
                shown = (label + (number % 4 == 3)) % len(SYNSETS)
                put(folder / name, jpeg(shown, 100 * place + number))
                lists[part].append(f"{name} {label}")
        for number in range(val):
            name = f"val{10 * label + number:06d}.jpg"
            put(folder / "val_images_256" / name, jpeg(label, 700 + number))
            lists["val"].append(f"{name} {label}")
    info = folder / "info"
    put(info / "synsets.txt", "".join(f"{name} thing, stuff\n" for name in SYNSETS))
    queries = [f"{query} {(query + 1) // 2}" for query in range(1, 2 * len(SYNSETS) + 1)]
    put(info / "queries_synsets_map.txt", "\n".join(queries) + "\n")
    for part in ("google", "flickr"):
        put(info / f"train_filelist_{part}.txt", "\n".join(lists[part]) + "\n")
    put(info / "val_filelist.txt", "\n".join(lists["val"]) + "\n")
    return folder
