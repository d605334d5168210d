"""Fit a mentor: Adam finds the Θ that minimises an objective (§3.1, App. D)."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from mentornet.curricula import Curriculum
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.objectives import Objective, explicit, implicit
from mentornet.names import pick
from mentornet.precision import full_precision
from mentornet.randomness import generator

__all__ = ["FitConfig", "FitRecord", "Lesson", "error_of", "fit", "fit_curriculum", "one_thread"]

_PROBE = 16_384  # the error curve is computed on at most this many rows
_CHUNK = 16_384  # rows in one forward pass when the error of all rows is computed


_MOST, _LARGEST_RATE = 10**9, 1e38  # of counts, and of what must be a float32


@dataclass(frozen=True)
class FitConfig:
    """How long and how fast a mentor learns.

    Args:
        steps: number of steps of Adam, ≥ 1. The learning rate rises over the first tenth and then
            falls along a cosine; β₁ falls from 0.95 to 0.85 and rises again (`OneCycleLR`).
        batch_size: number of samples per step, ≥ 1; they are drawn with replacement.
        learning_rate: the highest learning rate, > 0.
        evaluations: number of points of the error curve, ≥ 1.
        goal: stop when the error is at or below this value.
        patience: stop after this many evaluations without a new best. None never stops early:
            while the learning rate is high, the error may stay above its best for long.
        seed: seed of the random draws of samples.
    """

    steps: int = 6000
    batch_size: int = 256
    learning_rate: float = 0.1
    evaluations: int = 50
    goal: float = 0.0
    patience: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "evaluations"):
            if getattr(self, name) < 1:
                raise MentorNetError(f"{name} must be ≥ 1, got {getattr(self, name)}")
            if getattr(self, name) > _MOST:
                raise MentorNetError(f"{name} must be at most {_MOST}, got {getattr(self, name)}")
        if self.patience is not None and self.patience < 1:
            raise MentorNetError(f"patience must be ≥ 1 or None, got {self.patience}")
        if not self.learning_rate > 0:
            raise MentorNetError(f"learning_rate must be > 0, got {self.learning_rate:g}")
        if self.learning_rate > _LARGEST_RATE:
            raise MentorNetError(
                f"learning_rate must be at most {_LARGEST_RATE:g}, got {self.learning_rate:g}"
            )


@dataclass
class FitRecord:
    """The result of a fit: the error curve, why the fit stopped, and how long it took.

    `error` is the final error of the mentor over all samples that it is evaluated on. `held_out`
    has those samples if some were held out for that.
    """

    steps: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    stopped: Literal["all steps taken", "goal reached", "no improvement"] = "all steps taken"
    error: float = float("nan")
    seconds: float = 0.0
    held_out: Lesson | None = field(default=None, repr=False)

    def plateaued(self, patience: int | None) -> bool:
        """Return whether the best error is at least `patience` evaluations old."""
        if patience is None:
            return False
        best = self.errors.index(min(self.errors))
        return len(self.errors) - 1 - best >= patience


class Lesson(NamedTuple):
    """The features of samples, and the target weight of each, `(B,)`."""

    features: MentorFeatures
    target: Tensor

    def check(self, mentor: Mentor) -> None:
        """Raise if the lesson is empty or has values that the mentor cannot learn from."""
        count = self.features.batch_size
        if count == 0:
            raise MentorNetError("there are no samples to learn from")
        if self.target.shape != (count,) or not ((self.target >= 0) & (self.target <= 1)).all():
            raise MentorNetError(
                f"targets must be weights in [0, 1] of shape ({count},), "
                f"got shape {tuple(self.target.shape)}"
            )
        mentor.checked(self.features)

    def rows(self, index: Tensor | slice) -> Lesson:
        """Return the samples at `index`."""
        return Lesson(self.features.rows(index), self.target[index])


Progress = Callable[[int, float], None]
"""A function that is called at each evaluation, with the step and the error."""


def fit_curriculum(
    mentor: Mentor,
    curriculum: Curriculum,
    features: MentorFeatures,
    config: FitConfig | None = None,
    *,
    objective: Literal["implicit", "explicit"] = "implicit",
    on_progress: Progress | None = None,
) -> FitRecord:
    """Fit `mentor` to a predefined curriculum; the error is the mean squared error to v*.

    Args:
        mentor: the mentor, which is changed in place; it ends at its lowest error.
        curriculum: the curriculum to approximate.
        features: the features to learn from, usually `enumerate_features`.
        config: see `FitConfig`.
        objective: "implicit" regresses on v*; "explicit" minimises g·ℓ + G(g) (Eq. 4).
        on_progress: see `Progress`.
    """
    objectives = {"implicit": lambda: implicit, "explicit": lambda: explicit(curriculum)}
    chosen = pick(objectives, objective, "objective")()
    lesson = Lesson(features, curriculum(features))
    return fit(mentor, lesson, chosen, error=implicit, config=config, on_progress=on_progress)


def fit(
    mentor: Mentor,
    lesson: Lesson,
    objective: Objective,
    *,
    error: Objective,
    evaluated_on: Lesson | None = None,
    config: FitConfig | None = None,
    on_progress: Progress | None = None,
) -> FitRecord:
    """Minimise the mean objective over `lesson`, and leave `mentor` at its lowest error.

    Args:
        mentor: the mentor, which is changed in place.
        lesson: the samples that it learns from.
        objective: the function whose mean the steps minimise.
        error: the function whose mean is the error, for the error curve and for early stopping.
        evaluated_on: the samples that the error is computed on; None for the lesson itself.
        config: see `FitConfig`.
        on_progress: see `Progress`.
    """
    config, evaluated_on = config or FitConfig(), evaluated_on or lesson
    for part in (lesson, evaluated_on):
        part.check(mentor)
    started = time.perf_counter()
    plain = full_precision(lesson.target.device)
    with one_thread(), _learning(mentor), plain, torch.enable_grad():
        record = _descend(mentor, lesson, objective, error, evaluated_on, config, on_progress)
        record.error = error_of(mentor, evaluated_on, error)
    record.seconds = time.perf_counter() - started
    return record


def _descend(
    mentor: Mentor,
    lesson: Lesson,
    objective: Objective,
    error: Objective,
    evaluated_on: Lesson,
    config: FitConfig,
    on_progress: Progress | None,
) -> FitRecord:
    """Take the steps, compute the error at intervals, and restore the best parameters."""
    record, probe = FitRecord(), evaluated_on.rows(slice(_PROBE))
    best = copy.deepcopy(mentor.state_dict())
    every = max(1, config.steps // config.evaluations)
    take_step = _adam(mentor, lesson, objective, config)
    for step in range(1, config.steps + 1):
        take_step()
        if step % every and step != config.steps:
            continue
        latest = error_of(mentor, probe, error)
        if not math.isfinite(latest):
            raise MentorNetError(
                f"the mentor's error is {latest:g} at step {step}; try a learning_rate below "
                f"{config.learning_rate:g}"
            )
        record.steps.append(step)
        record.errors.append(latest)
        if latest == min(record.errors):
            best = copy.deepcopy(mentor.state_dict())
        if on_progress is not None:
            on_progress(step, latest)
        if latest <= config.goal:
            record.stopped = "goal reached"
            break
        if record.plateaued(config.patience):
            record.stopped = "no improvement"
            break
    mentor.load_state_dict(best)
    return record


@torch.no_grad()
def error_of(mentor: Mentor, lesson: Lesson, error: Objective = implicit) -> float:
    """Return the mean error over the lesson."""
    count, total = lesson.features.batch_size, 0.0
    for start in range(0, count, _CHUNK):
        part = lesson.rows(slice(start, start + _CHUNK))
        errors = error(mentor.logit(part.features), part.target, part.features)
        total += errors.double().sum().item()
    return total / count


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread of torch inside; for a network as small as a mentor, more only cost time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _learning(mentor: Mentor) -> Iterator[None]:
    """Let the mentor learn inside; then restore its mode and the `requires_grad` of Θ."""
    mode, flags = mentor.training, [parameter.requires_grad for parameter in mentor.parameters()]
    mentor.train().requires_grad_(True)
    try:
        yield
    finally:
        mentor.train(mode)
        for parameter, flag in zip(mentor.parameters(), flags, strict=True):
            parameter.requires_grad_(flag)
            parameter.grad = None


def _adam(
    mentor: Mentor, lesson: Lesson, objective: Objective, config: FitConfig
) -> Callable[[], None]:
    """Return a function that takes one step of Adam at each call."""
    count, device = lesson.features.batch_size, lesson.features.loss.device
    draw = generator(config.seed)
    adam = torch.optim.Adam(mentor.parameters(), lr=config.learning_rate, fused=True)
    total = max(4, config.steps)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        adam, config.learning_rate, total_steps=total, pct_start=max(0.1, 2 / total),
        div_factor=10, final_div_factor=100,
    )  # fmt: skip

    def step() -> None:
        rows = lesson.rows(torch.randint(count, (config.batch_size,), generator=draw).to(device))
        loss = objective(mentor.logit(rows.features), rows.target, rows.features).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()

    return step
