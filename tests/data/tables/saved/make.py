"""Writes the datasets beside it with the version of Hugging Face `datasets` that is installed.

    python make.py FOLDER

`datasets` is no dependency of the tests: what they read was written by versions 1.5.0, 1.18.4
and 5.2.0, which differ in what they write.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

COUNT = 12


def main(folder: Path) -> None:
    import datasets
    from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value

    folder = folder / datasets.__version__
    label = ClassLabel(names=["neg", "pos"])
    kinds = Features({"review": Value("string"), "label": label})
    numbers = range(COUNT)
    texts: dict[str, list[Any]] = {
        "review": [f"this is review number {number} of twelve" for number in numbers],
        "label": [number % 2 for number in numbers],
    }
    whole = Dataset.from_dict(texts, features=kinds)
    whole.select([5, 3, 1, 0, 2, 4]).save_to_disk(f"{folder / 'chosen'}")
    hidden = {"review": texts["review"][:3], "label": [-1] * 3}
    DatasetDict({
        "train": whole,
        "validation": whole.select([2, 3]),
        "test": Dataset.from_dict(hidden, features=kinds),
        "unsupervised": Dataset.from_dict(hidden, features=kinds),
    }).save_to_disk(f"{folder / 'parts'}")  # fmt: skip
    Dataset.from_dict({
        "age": [None, *map(float, numbers[1:])], "city": ["a", "b", "c"] * 4,
        "member": [True, False, False] * 4, "label": ["x", "y"] * 6,
    }).save_to_disk(f"{folder / 'rows'}")  # fmt: skip
    vectors = {"vector": [[number, 1.5] for number in numbers], "label": texts["label"]}
    kinds = Features({"vector": Sequence(Value("float32"), length=2), "label": label})
    Dataset.from_dict(vectors, features=kinds).save_to_disk(f"{folder / 'vectors'}")
    if hasattr(datasets, "Image"):
        _images(folder, {"label": texts["label"]}, label)
    if hasattr(Dataset, "push_to_hub") and int(datasets.__version__.partition(".")[0]) > 2:
        whole.save_to_disk(f"{folder / 'files'}", num_shards=3)


def _images(folder: Path, columns: dict[str, Any], label: Any) -> None:
    """Images in memory, and images in files."""
    import datasets
    from datasets import Dataset, Features
    from PIL import Image

    kinds = Features({"image": datasets.Image(), "label": label})
    pixels = [np.full((8, 10, 3), 20 * number, np.uint8) for number in range(COUNT)]
    images = [Image.fromarray(array) for array in pixels]
    made = Dataset.from_dict({"image": images, **columns}, features=kinds)
    made.save_to_disk(f"{folder / 'images'}")
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        names = [f"{number}.png" for number in range(COUNT)]
        for name, image in zip(names, images, strict=True):
            image.save(name)
        made = Dataset.from_dict({"image": names, **columns}, features=kinds)
        made.save_to_disk(f"{folder / 'files of images'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
