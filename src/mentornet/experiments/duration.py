"""How long jobs will take, from a few steps that are timed, or from operations that are counted."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from mentornet.config import FilesConfig, LabelsConfig, TrainConfig
from mentornet.data import DATASETS, Samples, Splits
from mentornet.experiments.fits import Fit
from mentornet.experiments.jobs import Job
from mentornet.experiments.runs import Run, trial_config
from mentornet.mentors.fitting import one_thread
from mentornet.methods import make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator
from mentornet.students import make_student
from mentornet.training import Observer, Trainer, prepare
from mentornet.training.batches import steps_per_epoch

__all__ = ["GPU_RATE", "Clock", "counted_step"]

GPU_RATE = 1e13
"""Operations (multiplications and additions) that a GPU is taken to make in a second."""

_STEPS = 3  # timed, after one that is not
_FEW = 4  # images of a step that is tried first
_LONG = 0.3  # seconds that those may take; beyond, a step is as many times longer as it is larger
_SHORT = (100, 300)  # steps of fits that are timed; enough for as many evaluations as long ones


class Clock:
    """Estimates how long jobs take; each student under each method is timed once.

    Args:
        step: returns the seconds of one step of training; by default it is timed here.
    """

    def __init__(self, step: Callable[[TrainConfig], float] | None = None) -> None:
        self._seconds: dict[str, float] = {}
        self._step_of = step or _timed_step

    def minutes(self, jobs: Iterable[Job]) -> float:
        """How long these jobs take one after the other, with their tuning, without evaluation.

        The steps of a trial or a recipe are taken to be as long as those of the run.
        """
        total, tuned = 0.0, set()
        for job in jobs:
            trials: tuple[tuple[str, ...], ...] = ()
            if job.tuning is not None and job.with_seed(0).digest not in tuned:
                tuned.add(job.with_seed(0).digest)
                trials = job.tuning.candidates
            if isinstance(job, Run):
                steps = _steps(job.config) * (1 + (job.recipe.cost if job.recipe else 0))
                steps += sum(_steps(trial_config(job, settings)) for settings in trials)
                total += self._step(job.config) * steps
            elif isinstance(job, Fit):
                total += self._fit(job) * (1 + len(trials))
        return total / 60

    def _step(self, config: TrainConfig) -> float:
        """Seconds of one step of training."""
        batch = config.optimiser.batch_size or 128
        key = f"{_shape(config)} {config.student} {config.method} {batch}"
        if key not in self._seconds:
            self._seconds[key] = self._step_of(config)
        return self._seconds[key]

    def _fit(self, fit: Fit) -> float:
        """Seconds of one fit, from two short ones of the same architecture."""
        config = fit.config
        key = f"{config.arch} {config.samples} {config.history} {config.steps}"
        if key not in self._seconds:
            took = [_time_fit(fit, steps) for steps in _SHORT]
            step = max(took[1] - took[0], 0) / (_SHORT[1] - _SHORT[0])
            self._seconds[key] = took[1] + step * max(config.steps - _SHORT[1], 0)
        return self._seconds[key]


def counted_step(config: TrainConfig) -> float:
    """Seconds of one step on a GPU of `GPU_RATE`: the backward pass takes twice the forward one."""
    assert config.student.student is not None
    classes, sizes = DATASETS[config.data].classes, config.student.sizes
    count = _operations(config.student.student, _shape(config), classes, tuple(sizes.items()))
    return 3 * (config.optimiser.batch_size or 128) * count / GPU_RATE


@cache
def _operations(
    name: str, shape: tuple[int, int, int], classes: int, sizes: tuple[tuple[str, float], ...]
) -> int:
    """Multiplications and additions of a student for one image, counted without computing."""
    made: dict[str, Any] = dict(sizes)
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        student = make_student(name, channels=shape[0], classes=classes, **made)
        student.eval()(torch.zeros(1, *shape))
    return counter.get_total_flops()


def _timed_step(config: TrainConfig) -> float:
    batch = config.optimiser.batch_size or 128
    seconds = _time_step(config, _FEW)
    return seconds * batch / _FEW if seconds > _LONG else _time_step(config, batch)


def _time_fit(fit: Fit, steps: int) -> float:
    short = replace(fit, config=replace(fit.config, steps=steps), tuning=None)
    with one_thread():
        started = time.process_time()
        short.make((), Path(), Observer())
        return time.process_time() - started


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
    method = make_method(config.method.method or "", **parse_settings(config.method.set))
    needs = method.needs.verdicts == "required" or (
        config.labels.clean_count is not None and method.needs.verdicts == "optional"
    )
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
    seconds = []
    with one_thread():
        for epoch in range(_STEPS + 1):
            part = next(trainer.batches.epoch(epoch))
            started = time.perf_counter()
            trainer.step(part, epoch)
            trainer.records.loss.sum().item()  # an accelerator is waited for
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])
