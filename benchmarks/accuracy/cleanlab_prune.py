"""Prune and retrain in two steps: cleanlab finds wrong labels first (Northcutt et al. 2021).

1. Students are trained plainly on all folds but one, and predict the fold that they have not seen.
   cleanlab finds wrong labels by these predictions, and a CSV file of verdicts says which.
2. The run itself has the method `verified` and that file: samples that were found wrong keep their
   places in the batches, with weight 0.

python -m benchmarks.accuracy.cleanlab_prune CONFIG.toml FOLDER makes the first step alone, and
prints the command of the second.
"""

from __future__ import annotations

import csv
import io
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.config import LabelsConfig, MethodConfig, TrainConfig, read_config
from mentornet.data import Splits
from mentornet.data.samples import Samples
from mentornet.errors import MentorNetError
from mentornet.files import write_bytes, write_text
from mentornet.randomness import generator
from mentornet.training import Observer, Trainer, predict, prepare
from mentornet.training.speed import choose_machine

__all__ = ["VERDICTS", "CleanlabPrune", "cross_validate", "find_wrong", "shortened"]

VERDICTS = "verdicts.csv"
"""The file of the first step, in its folder."""

_FOLDS = 13  # stream of randomness


@dataclass(frozen=True)
class CleanlabPrune:
    """The two steps as a recipe of a run.

    The first step takes about `length` × (`folds` − 1) times as long as the run itself.

    Args:
        folds: the number of folds of the cross-validation.
        length: how long each student is trained, as a share of the run, in (0, 1]. Shorter training
            costs less, and learns fewer wrong labels by heart.
    """

    folds: int = 4
    length: float = 1.0

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise MentorNetError(f"folds must be ≥ 2, got {self.folds}")
        if not 0 < self.length <= 1:
            raise MentorNetError(f"length must be in (0, 1], got {self.length:g}")

    @property
    def name(self) -> str:
        """The name of the row, and of the results."""
        return "cleanlab-prune"

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the verdicts depend on, beside the config."""
        return {"folds": self.folds, "length": self.length}

    @property
    def cost(self) -> float:
        """The length of the first step, as a multiple of the run."""
        return self.length * (self.folds - 1)

    def prepare(
        self, config: TrainConfig, folder: Path, observer: Observer
    ) -> tuple[TrainConfig, float]:
        """The config of the second step, and the seconds of the first.

        Args:
            config: of the run; its method is replaced by `verified`.
            folder: holds the predictions of each fold, so that an interrupted step continues.
            observer: told of each fold.
        """
        find_label_issues = _find_label_issues()
        prepared = prepare(replace(config, method=MethodConfig("full-model")))
        machine = choose_machine(prepared, observer.note)
        samples = prepared.train
        probabilities, seconds = cross_validate(
            replace(shortened(prepared.config, self.length), machine=machine),
            Splits(samples, prepared.test),
            self.folds,
            folder,
            observer,
        )
        wrong = find_wrong(samples, probabilities, find_label_issues)
        observer.note(f"cleanlab leaves out {int(wrong.sum())} of {len(wrong)} samples")
        path = folder / VERDICTS
        _write_verdicts(path, wrong)
        labels = replace(config.labels, verdicts=(f"{path}",))
        method = MethodConfig("verified")
        return replace(config, labels=labels, method=method, machine=machine), seconds


def _find_label_issues() -> Any:
    try:
        from cleanlab.filter import find_label_issues
    except ImportError:
        raise MentorNetError(
            "cleanlab-prune needs cleanlab: pip install 'mentornet[comparators]'"
        ) from None
    return find_label_issues


def find_wrong(samples: Samples, probabilities: Tensor, find_label_issues: Any) -> Tensor:
    """Whether cleanlab takes each given label to be wrong, `(N,)`, boolean.

    Args:
        samples: with their given labels.
        probabilities: P(class | sample) by students that have not seen the sample, `(N, K)`.
        find_label_issues: cleanlab's function.
    """
    given = samples.given_label.numpy()
    return torch.from_numpy(find_label_issues(given, probabilities.double().numpy(), n_jobs=1))


def cross_validate(
    config: TrainConfig, splits: Splits, folds: int, folder: Path | None, observer: Observer
) -> tuple[Tensor, float]:
    """P(class | sample) by students that have not seen the sample, `(N, K)`, and the seconds taken.

    Args:
        config: how each student is trained, on data that is limited and corrupted already.
        splits: the data, with its given labels.
        folds: each sample is in one of them, and predicted by the student of the others.
        folder: where the predictions of each fold are stored; None to store nothing.
        observer: told of each fold.
    """
    samples = splits.train
    order = torch.randperm(len(samples), generator=generator(config.seed, _FOLDS))
    found, seconds = torch.zeros(len(samples), len(samples.classes)), 0.0
    for place, held in enumerate(order.tensor_split(folds)):
        path = None if folder is None else folder / f"fold-{place + 1}-of-{folds}.npz"
        if path is not None and path.exists():
            with np.load(path, allow_pickle=False) as stored:
                found[held] = torch.from_numpy(stored["probabilities"])
                seconds += float(stored["seconds"])
            continue
        started = time.perf_counter()
        observer.note(f"cross-validation: fold {place + 1} of {folds}")
        found[held] = _predicted(config, splits, held)
        took = time.perf_counter() - started
        seconds += took
        if path is not None:
            _store(path, found[held], took)
    return found, seconds


def _predicted(config: TrainConfig, splits: Splits, held: Tensor) -> Tensor:
    """The predictions of the samples `held` by a student that was trained on all others."""
    stay = torch.ones(len(splits.train), dtype=torch.bool)
    stay[held] = False
    others = replace(splits, train=splits.train.rows(stay.nonzero().flatten()))
    trainer = Trainer(prepare(config, splits=others))
    for epoch in range(trainer.epochs):
        trainer.run_epoch(epoch)
    return predict(trainer.module.eval(), splits.train.rows(held).inputs)


def shortened(config: TrainConfig, length: float) -> TrainConfig:
    """Plain training for a part of the epochs, on data that is limited and corrupted already."""
    optimiser = config.optimiser
    epochs, steps = (
        None if number is None else max(1, round(length * number))
        for number in (optimiser.epochs, optimiser.steps)
    )
    return replace(
        config,
        files=replace(config.files, limit=None, validation=None),
        labels=LabelsConfig(),
        optimiser=replace(optimiser, epochs=epochs, steps=steps),
    )


def _write_verdicts(path: Path, wrong: Tensor) -> None:
    """One row for each sample: whether its given label is correct, as far as cleanlab can tell."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("index", "is_correct"))
    rows.writerows((index, "false" if found else "true") for index, found in enumerate(wrong))
    write_text(path, text.getvalue())


def _store(path: Path, probabilities: Tensor, seconds: float) -> None:
    content = io.BytesIO()
    np.savez(content, probabilities=probabilities.numpy(), seconds=np.array(seconds))
    write_bytes(path, content.getvalue())


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, folder = map(Path, sys.argv[1:])
    CleanlabPrune().prepare(read_config(path), folder, Observer())
    print(f"wrote {folder / VERDICTS}; now train on the labels that it leaves:")
    print(f"mentornet train --config {path} --method verified --clean {folder / VERDICTS}")


if __name__ == "__main__":
    main()
