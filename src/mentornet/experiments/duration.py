"""How long runs will take, from steps that are really made."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from dataclasses import replace

import torch

from mentornet.config import FilesConfig, LabelsConfig, TrainConfig
from mentornet.data import Images, Splits
from mentornet.experiments.cells import Run
from mentornet.experiments.work import trial_config
from mentornet.randomness import generator
from mentornet.training import Trainer, prepare
from mentornet.training.batches import steps_per_epoch
from mentornet.training.pruning import unpruned

__all__ = ["Clock"]

_STEPS = 3  # timed, after one that is not
_IMAGES = {"cifar10": (50_000, 10), "cifar100": (50_000, 100), "digits": (1_437, 10)}
_SHAPES = {"digits": (1, 8, 8)}


class Clock:
    """Estimates runs; a student under a method is timed once."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def minutes(self, runs: Iterable[Run]) -> float:
        """What these runs take one after the other, their tuning included; tests left out."""
        total, tuned = 0.0, set()
        for run in runs:
            total += self._of(run.config)
            if run.tuning is not None and run.with_seed(0).digest not in tuned:
                tuned.add(run.with_seed(0).digest)
                total += sum(
                    self._of(trial_config(run, settings)) for settings in run.tuning.candidates
                )
        return total / 60

    def _of(self, config: TrainConfig) -> float:
        images, _ = _IMAGES[config.data]
        images = config.files.limit or images
        images = round(images * (1 - (config.files.validation or 0)))
        optimiser = config.optimiser
        batch = optimiser.batch_size or 128
        steps = optimiser.steps or (optimiser.epochs or 10) * steps_per_epoch(images, batch)
        return steps * self._step(config, batch)

    def _step(self, config: TrainConfig, batch: int) -> float:
        """Seconds of one step; where the method cross-validates first, its share of that too."""
        method = config.method
        key = f"{config.data} {config.student} {method} {batch}"
        if key not in self._seconds:
            self._seconds[key] = _time_step(config, batch)
        return self._seconds[key]


def _time_step(config: TrainConfig, batch: int) -> float:
    _, classes = _IMAGES[config.data]
    shape = _SHAPES.get(config.data, (3, 32, 32))
    draw = generator(0)
    count = max(2 * batch, 20)
    images = Images(
        torch.randint(256, (count, *shape), generator=draw, dtype=torch.uint8),
        torch.arange(count) % classes,
        tuple(f"{place}" for place in range(classes)),
        true_label=torch.arange(count) % classes,
    )
    needs = config.labels.clean_count is not None
    timed = replace(
        config,
        files=FilesConfig(),
        labels=LabelsConfig(clean_count=20 if needs else None),
        optimiser=replace(config.optimiser, batch_size=batch, epochs=100, steps=None),
        machine=replace(config.machine, channels_last="on"),
    )
    prepared = prepare(timed, splits=Splits(images, images))
    if prepared.method.prunes_by:
        prepared = unpruned(prepared)
    trainer = Trainer(prepared)
    trainer.student.train()
    seconds, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)  # as the runs will have
    try:
        for epoch in range(_STEPS + 1):
            part = next(trainer.batches.epoch(epoch))
            started = time.perf_counter()
            trainer.step(part, epoch)
            trainer.records.loss.sum().item()  # an accelerator is waited for
            seconds.append(time.perf_counter() - started)
    finally:
        torch.set_num_threads(threads)
    folds = prepared.method.prunes_by
    return statistics.median(seconds[1:]) * (1 + max(0, folds - 1))
