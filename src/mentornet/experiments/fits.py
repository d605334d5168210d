"""The fit of a mentor to a predefined curriculum as a job."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from mentornet.curricula import make_curriculum
from mentornet.experiments.jobs import Job, Kind, Tuning
from mentornet.files import as_json
from mentornet.mentors import BatchLSTMMentor, FitConfig, enumerate_features, fit_curriculum
from mentornet.mentors.architectures import make_mentor
from mentornet.methods.settings import parse_numbers
from mentornet.training.observer import Observer

__all__ = ["Fit", "FitSettings", "Objective"]

Objective = Literal["implicit", "explicit"]


@dataclass(frozen=True)
class FitSettings:
    """What is fitted to what, and for how long; the defaults are the paper's.

    Args:
        curriculum: the curriculum to learn.
        arch: the architecture of the mentor.
        objective: implicit for a regression on v*, explicit to minimise g·ℓ + G(g).
        curriculum_settings: settings of the curriculum that are not at their default.
        samples: how many enumerated samples it learns from, and is evaluated on.
        history: T, the step size of the LSTM.
        steps: steps of Adam.
        batch_size: samples in each step.
        learning_rate: the highest learning rate.
        seed: of the starting values and of the order of the samples.
    """

    curriculum: str
    arch: str
    objective: Objective = "implicit"
    curriculum_settings: Mapping[str, float | bool] = field(default_factory=dict)
    samples: int = 300_000
    history: int = 10
    steps: int = FitConfig().steps
    batch_size: int = FitConfig().batch_size
    learning_rate: float = FitConfig().learning_rate
    seed: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the mentor: T, and for the RNN the batch, which it reads as one sequence."""
        sizes = {"history": self.history}
        return sizes | {"run": self.batch_size} if self.arch == BatchLSTMMentor.name else sizes

    def full(self) -> dict[str, Any]:
        """All settings as plain data, those of the curriculum with their defaults."""
        made = make_curriculum(self.curriculum, **self.curriculum_settings)
        return asdict(self) | self.sizes | {"curriculum_settings": dict(made.settings)}


@dataclass(frozen=True)
class Fit(Job):
    """One fit, with the learning rates that are tried first.

    Args:
        config: what is fitted, and how.
        tuning: the candidates, such as `learning_rate=0.1`. Trials have the length of the fit, and
            the one with the lowest error is chosen.
    """

    config: FitSettings
    tuning: Tuning | None = None

    kind: ClassVar[Kind] = "fit"

    def with_seed(self, seed: int) -> Fit:
        return replace(self, config=replace(self.config, seed=seed))

    def untuned(self) -> Fit:
        return replace(self, tuning=None)

    @property
    def digest(self) -> str:
        about = as_json({**self.config.full(), "tuning": self.tuning and asdict(self.tuning)})
        return hashlib.sha256(about.encode()).hexdigest()[:10]

    @property
    def key(self) -> str:
        config = self.config
        return f"{config.curriculum}-{config.arch}-{config.objective}-{config.seed}-{self.digest}"

    def attempt(
        self, settings: Sequence[str], folder: Path, observer: Observer
    ) -> Mapping[str, Any]:
        run = self.make(settings, folder, observer)["run"]
        return {"mse": run["mse"], "seconds": run["seconds"]}

    def score(self, trial: Mapping[str, Any]) -> float:
        return -float(trial["mse"])

    def make(
        self,
        settings: Sequence[str],
        folder: Path,  # noqa: ARG002  a fit is short, and keeps nothing on the way
        observer: Observer,
    ) -> dict[str, Any]:
        chosen: dict[str, Any] = {**parse_numbers(tuple(settings))}
        config = replace(self.config, **chosen)
        record = fit_curriculum(
            make_mentor(config.arch, seed=config.seed, **config.sizes),
            make_curriculum(config.curriculum, **config.curriculum_settings),
            enumerate_features(config.samples, history=config.history),
            FitConfig(config.steps, config.batch_size, config.learning_rate, seed=config.seed),
            objective=config.objective,
            on_progress=lambda step, error: observer.epoch({"step": step, "mse": error}),
        )
        epochs = [step * config.batch_size / config.samples for step in record.steps]
        return {
            "run": {
                "seed": config.seed,
                "mse": record.error,
                "seconds": round(record.seconds, 1),
                "learning_rate": config.learning_rate,
            },
            "curve": {"epoch": epochs, "mse": record.errors},
            "config": config.full(),
        }
