"""The data: samples as vectors, with the labels that they were given and the true ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from benchmarks.real_noise.encoders import of_images, of_texts
from mentornet.data import Samples, Splits, corrupt_samples, load_data, parse_noise
from mentornet.errors import MentorNetError
from mentornet.randomness import generator

__all__ = ["FILES", "SETS", "Task", "read_task"]

FILES = ("trec", "semeval", "yoruba-news", "music-one-worker")
HUMAN = {"cifar10-aggre": "aggre_label", "cifar10-random1": "random_label1"}
SETS = (*FILES, *HUMAN)
IMAGES = 10_000  # of CIFAR-10, to learn from; and as many to test on
_HELD, _STREAM = 0.2, 41  # the share of rows that settings are chosen by; a stream of randomness


@dataclass(frozen=True, eq=False)
class Task:
    """Vectors to learn from and vectors to test on; N and M of them.

    Attributes:
        x: `(N, D)`.
        given: the given labels, `(N,)`.
        true: the true labels, `(N,)`.
        x_test: `(M, D)`.
        y_test: the labels that predictions are compared with, `(M,)`; true ones, but in `trial`.
        classes: the class names, `(K,)`.
        seconds: how long it took to compute the features; 0 for a table.
    """

    x: Tensor
    given: Tensor
    true: Tensor
    x_test: Tensor
    y_test: Tensor
    classes: tuple[str, ...]
    seconds: float = 0.0

    @property
    def wrong(self) -> Tensor:
        """Whether each given label is wrong, `(N,)`."""
        return self.given != self.true

    @property
    def splits(self) -> Splits:
        """The same for a trainer."""
        return Splits(
            Samples(self.x, self.given, self.classes, self.true),
            Samples(self.x_test, self.y_test, self.classes),
        )

    def trial(self, seed: int) -> Task:
        """Return four fifths of the training rows, and the last fifth with its given labels.

        Settings are chosen on these: neither test rows nor true labels are looked at.
        """
        order = torch.randperm(len(self.given), generator=generator(seed, _STREAM))
        held, stay = order.split(
            [round(_HELD * len(order)), len(order) - round(_HELD * len(order))]
        )
        return replace(
            self, x=self.x[stay], given=self.given[stay], true=self.true[stay],
            x_test=self.x[held], y_test=self.given[held],
        )  # fmt: skip


@cache
def read_task(name: str, folder: Path) -> Task:
    """Return the data of a set.

    Args:
        name: one of `SETS`.
        folder: the folder with the CSV files. CIFAR-10 and its human labels are where
            `mentornet train cifar10 --noise human:…` reads them.
    """
    return _human(HUMAN[name]) if name in HUMAN else _file(name, folder)


def _file(name: str, folder: Path) -> Task:
    path = folder / f"{name}.csv"
    if not path.is_file():
        sys.exit(
            f"there is no {path}: the files {', '.join(f'{name}.csv' for name in FILES)} must be "
            "in --folder, or in real-noise inside MENTORNET_DATA; docs/real_noise.md says what is "
            "in them"
        )
    rows = pd.read_csv(path, keep_default_na=False)
    missing = {"label", "true_label", "split"} - {*rows}
    if missing:
        sys.exit(f"{path} has no column {min(missing)}; it needs label, true_label and split")
    train, test = (torch.tensor((rows["split"] == part).tolist()) for part in ("train", "test"))
    seconds = 0.0
    if "text" in rows:
        x, seconds = of_texts(rows["text"].tolist())
    else:
        names = [column for column in rows if column.startswith("feature")]
        x = torch.from_numpy(rows[names].to_numpy(np.float32))
        spread = x[train].std(0, correction=0)
        x = (x - x[train].mean(0)) / spread.where(spread > 0, 1.0)
    classes = tuple(sorted({*rows["label"].astype(str), *rows["true_label"].astype(str)}))
    number = {label: place for place, label in enumerate(classes)}
    given, true = (
        torch.tensor([number[label] for label in rows[column].astype(str)])
        for column in ("label", "true_label")
    )
    return Task(x[train], given[train], true[train], x[test], true[test], classes, seconds)


def _human(key: str) -> Task:
    try:
        splits = load_data("cifar10")
        given = corrupt_samples(splits.train, parse_noise(f"human:{key}"), seed=0).given_label
    except MentorNetError as error:
        sys.exit(f"CIFAR-10 and the labels {key} that people gave to it are needed: {error}")
    train = splits.train.rows(slice(IMAGES))
    x, seconds = of_images(train.tensor)
    x_test, _ = of_images(splits.test.tensor[:IMAGES])
    return Task(
        x, given[:IMAGES], train.given_label, x_test, splits.test.given_label[:IMAGES],
        train.classes, seconds,
    )  # fmt: skip
