"""How long runs will take, from steps that are really made."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from dataclasses import replace

import torch

from mentornet.config import FilesConfig, LabelsConfig, TrainConfig
from mentornet.data import DATASETS, Samples, Splits
from mentornet.experiments.cells import Run
from mentornet.experiments.work import trial_config
from mentornet.randomness import generator
from mentornet.training import Trainer, prepare
from mentornet.training.batches import steps_per_epoch

__all__ = ["Clock"]

_STEPS = 3  # timed, after one that is not
_FEW = 4  # images of a step that is tried first
_LONG = 0.3  # seconds that those may take; beyond, a step is as many times longer as it is larger


class Clock:
    """Estimates runs; a student under a method is timed once."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def minutes(self, runs: Iterable[Run]) -> float:
        """What these runs take one after the other, their tuning included; tests left out.

        A trial's steps are taken to be as long as the run's.
        """
        total, tuned = 0.0, set()
        for run in runs:
            step = self._step(run.config)
            total += _steps(run.config) * step
            if run.tuning is not None and run.with_seed(0).digest not in tuned:
                tuned.add(run.with_seed(0).digest)
                total += step * sum(
                    _steps(trial_config(run, settings)) for settings in run.tuning.candidates
                )
        return total / 60

    def _step(self, config: TrainConfig) -> float:
        """Seconds of one step; where the method cross-validates first, its share of that too."""
        batch = config.optimiser.batch_size or 128
        key = f"{_shape(config)} {config.student} {config.method} {batch}"
        if key not in self._seconds:
            seconds = _time_step(config, _FEW)
            few = seconds > _LONG
            self._seconds[key] = seconds * batch / _FEW if few else _time_step(config, batch)
        return self._seconds[key]


def _shape(config: TrainConfig) -> tuple[int, int, int]:
    channels, *sides = DATASETS[config.data].shape
    height, width = [config.files.image_size or side for side in sides]
    return channels, height, width


def _steps(config: TrainConfig) -> int:
    """How many a run has."""
    count = config.files.limit or DATASETS[config.data].count
    count = round(count * (1 - (config.files.validation or 0)))
    optimiser = config.optimiser
    batch = optimiser.batch_size or 128
    return optimiser.steps or (optimiser.epochs or 10) * steps_per_epoch(count, batch)


def _time_step(config: TrainConfig, batch: int) -> float:
    classes, shape = DATASETS[config.data].classes, _shape(config)
    draw = generator(0)
    count = max(2 * batch, 20)
    images = Samples(
        torch.randint(256, (count, *shape), generator=draw, dtype=torch.uint8),
        torch.arange(count) % classes,
        tuple(f"{place}" for place in range(classes)),
        true_label=torch.arange(count) % classes,
    )
    needs = config.labels.clean_count is not None or bool(config.labels.verdicts)
    timed = replace(
        config,
        files=FilesConfig(),
        labels=LabelsConfig(clean_count=20 if needs else None),
        optimiser=replace(config.optimiser, batch_size=batch, epochs=100, steps=None),
        machine=replace(config.machine, channels_last="on"),
    )
    prepared = prepare(timed, splits=Splits(images, images))
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
    return statistics.median(seconds[1:])
