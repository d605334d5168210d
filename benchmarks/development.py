"""Development runs: what the default for people who tell the program nothing is chosen on.

    python -m benchmarks.development            # make the runs that are missing, then the table
    python -m benchmarks.development table      # the table alone

No test image is looked at: students learn from training images of CIFAR-10 from number 20,000 on,
and are evaluated on training images 40,000–45,000, with their true labels.

- `five-N`: N images of five classes, 20 % wrong, as a folder of photos would be trained on: every
  setting of the run is what the program chooses for such data.
- the others: 5,000 images of all classes, the fast student of width 16, 40 epochs.

A run is one file in results/development; what is there already is not made again. One thread.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mentornet.audit import rank
from mentornet.config import LabelsConfig, MethodConfig, OptimiserConfig, StudentConfig, TrainConfig
from mentornet.config.groups import MachineConfig
from mentornet.data import Samples, Splits, corrupt_samples, load_data, parse_noise
from mentornet.experiments.conditions import conditions
from mentornet.files import read_json, write_json
from mentornet.metrics import auroc
from mentornet.training.preparation import prepare
from mentornet.training.trainer import Trainer

RESULTS = Path(__file__).parents[1] / "results" / "development"
FIRST, HELD = 20_000, slice(40_000, 45_000)
FIVE = {"five-500": 500, "five-1500": 1_500, "five-5000": 5_000}
TEN = {
    "clean": None, "uniform 0.2": "uniform:0.2", "uniform 0.4": "uniform:0.4",
    "uniform 0.8": "uniform:0.8", "asymmetric 0.4": "asymmetric:0.4",
    "instance 0.4": "instance:0.4", "aggre": "human:aggre_label", "random1": "human:random_label1",
}  # fmt: skip
WAYS = ("full-model", "elr", "mentornet-auto", "mentornet-posterior")
SEEDS = {"full-model": (0,), "elr": (0,), "mentornet-auto": (0,), "mentornet-posterior": (0,)}


@dataclass(frozen=True)
class Run:
    """One training: a setting of the data, a method (with words of its settings), and a seed."""

    setting: str
    way: str
    seed: int

    @property
    def path(self) -> Path:
        name = "-".join((self.setting, *self.way.split(), f"{self.seed}"))
        return RESULTS / f"{name.replace(' ', '-').replace(':', '_')}.json"

    def config(self) -> TrainConfig:
        method, *words = self.way.split()
        config = TrainConfig(
            "cifar10", seed=self.seed, method=MethodConfig(method, tuple(words)),
            machine=MachineConfig(accelerator="cpu", precision="32", compile="off"),
        )  # fmt: skip
        if self.setting in FIVE:
            return config
        return replace(
            config, student=StudentConfig("fast", width=16), optimiser=OptimiserConfig(epochs=40)
        )


def splits(setting: str, seed: int) -> Splits:
    """Return the images to learn from, some labels of which are wrong, and clean held-out ones."""
    whole = load_data("cifar10").train
    held = whole.rows(torch.arange(HELD.start, HELD.stop))
    if setting in TEN:
        noise = TEN[setting]
        given = whole if noise is None else corrupt_samples(whole, parse_noise(noise), seed=seed)
        train = given.rows(torch.arange(FIRST, FIRST + 5_000))
        return Splits(replace(train, true_label=whole.given_label[FIRST : FIRST + 5_000]), held)
    few = _first_classes(whole.rows(torch.arange(FIRST, HELD.start)), 5)
    few = few.rows(torch.arange(FIVE[setting]))
    return Splits(corrupt_samples(few, parse_noise("symmetric:0.2"), seed=seed),
                  _first_classes(held, 5))  # fmt: skip


def _first_classes(samples: Samples, count: int) -> Samples:
    chosen = samples.rows((samples.given_label < count).nonzero().flatten())
    return replace(chosen, classes=samples.classes[:count], groups=None)


class Recorded(Trainer):
    """A trainer that keeps the evidence of every epoch for those who ask."""


def score(run: Run, trainer_type: type[Trainer] = Trainer) -> tuple[dict[str, Any], Trainer]:
    """Train, and return what the table shows."""
    prepared = prepare(run.config(), splits=splits(run.setting, run.seed))
    trainer = trainer_type(prepared)
    summary = trainer.fit()
    correct = prepared.is_correct
    assert correct is not None
    wrong = ~correct
    records = trainer.records
    table = {
        "given_label": prepared.train.given_label.numpy(),
        "margin": (records.margin_sum / records.margin_weight).numpy(),
        "suggested_label": records.votes[:, 0].numpy(),
    }
    found = rank(
        table | {"mean_loss": records.loss.numpy()}, noise_rate=summary["noise_rate_estimated"]
    )
    hits = (found.is_issue & wrong.numpy()).sum()
    weight = records.weight
    return {
        "accuracy": summary["accuracy_last"],
        "best": summary["accuracy_best"],
        "best_epoch": summary["best_epoch"],
        "wrong": wrong.double().mean().item(),
        "estimate": summary["noise_rate_estimated"],
        "recall": float(hits / max(int(wrong.sum()), 1)),
        "precision": float(hits / max(found.is_issue.sum(), 1)),
        "auroc": auroc(weight, correct) if wrong.any() and weight.std() > 0 else None,
        "margin_auroc": auroc(torch.tensor(found.quality), correct) if wrong.any() else None,
        "weight_right": weight[correct].mean().item(),
        "weight_wrong": weight[wrong].mean().item() if wrong.any() else None,
        "seconds": summary["seconds"],
    }, trainer
