"""A training run as a job: its identity, its trials and how it is made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from mentornet.config import (
    MachineConfig,
    MethodConfig,
    Precision,
    TrainConfig,
    changed,
    read_config,
)
from mentornet.errors import MentorNetError
from mentornet.experiments.jobs import Job, Kind, Tuning
from mentornet.mentors.store import WEIGHTS, shipped
from mentornet.methods import make_method
from mentornet.methods.settings import overridden, parse_settings
from mentornet.training import RunFolder, train
from mentornet.training.observer import Observer

__all__ = ["HELD_OUT", "Recipe", "Run", "trial_config", "with_settings"]

HELD_OUT = 0.1
"""The share of the images that trials of tuning and early stopping hold out to choose by."""

_ONLY_AT_THE_END = 1_000_000  # epochs between two evaluations of a candidate
_LATER = {
    "sharpness": 0.0, "decided_by": 1.0, "mentor_classes": 0, "teaches_verified": False,
    "burn_in": 0.0, "fallback": True, "held_out": 0.2, "threshold": "follows",
}  # fmt: skip
"""Settings of methods that stored results do not know, at the value that changes nothing."""
_UPDATES = tuple(percent / 100 for percent in range(12, 97, 5))
"""What stored results of transferred mentors counted as their updates."""

_KEPT = (
    "data", "method", "student", "parameters", "seed", "epochs", "steps", "accuracy_last",
    "accuracy_best", "best_epoch", "seconds", "images_per_second", "noise_rate_actual",
    "weight_auroc", "mean_weight", "notes", "lessons", "accuracy_top5_last",
    "imagenet_accuracy_last", "imagenet_accuracy_top5_last",
)  # fmt: skip
_CURVE = (
    "epoch", "step", "test_accuracy", "train_accuracy", "train_loss", "mean_weight",
    "weight_auroc", "validation_accuracy", "weighted_loss",
)  # fmt: skip


class Recipe(Protocol):
    """A step before the run that changes its config, such as one that writes a file of verdicts.

    A recipe is a frozen dataclass that can be pickled. A run is known by its recipe's name and
    settings in place of its method's.
    """

    @property
    def name(self) -> str:
        """The name of the recipe in keys and digests."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Everything that its outcome depends on, beside the config of the run."""

    @property
    def cost(self) -> float:
        """How long the step takes, as a multiple of the run itself."""

    def prepare(
        self, config: TrainConfig, folder: Path, observer: Observer
    ) -> tuple[TrainConfig, float]:
        """The config to train with, and the seconds that the step took.

        Args:
            config: the config of the run.
            folder: where the step keeps what it has, so that it continues when interrupted.
            observer: told of its progress.
        """


@dataclass(frozen=True)
class Run(Job):
    """One training run, with the tuning and the recipe that come before it.

    In a trial the student is trained without a tenth of the images, and evaluated on the labels
    that those were given, right or wrong: people who have to tune have no other labels, and test
    labels are never used. Settings that are tried belong to the method, as `--set` takes them, or
    to the optimiser, as `optimiser.NAME=VALUE`.

    Args:
        config: what is trained, and how.
        tuning: what is tried first.
        recipe: what prepares the config, after tuning.
        mentors_of: the run whose mentors this one takes (DD by transfer, App. E).
    """

    config: TrainConfig
    tuning: Tuning | None = None
    recipe: Recipe | None = None
    mentors_of: Run | None = None

    kind: ClassVar[Kind] = "training"

    def with_seed(self, seed: int) -> Run:
        mentors_of = None if self.mentors_of is None else self.mentors_of.with_seed(seed)
        return replace(self, config=replace(self.config, seed=seed), mentors_of=mentors_of)

    def untuned(self) -> Run:
        return replace(self, tuning=None)

    @property
    def precision(self) -> Precision:
        return self.config.machine.precision

    def with_precision(self, precision: Precision) -> Run:
        machine = replace(self.config.machine, precision=precision)
        mentors_of = None if self.mentors_of is None else self.mentors_of.with_precision(precision)
        return replace(self, config=replace(self.config, machine=machine), mentors_of=mentors_of)

    @property
    def needs(self) -> tuple[Run, ...]:
        return () if self.mentors_of is None else (self.mentors_of,)

    def taken(self, working: Callable[[Job], Path]) -> tuple[str, ...]:
        if self.mentors_of is None:
            return ()
        folder = RunFolder(working(self.mentors_of) / "run")
        if not folder.learned_mentors():
            raise MentorNetError(
                f"{folder.path} has no mentors that {self.key} could take; if the result "
                f"{self.mentors_of.key}.json is there, move it away, and that run is made again"
            )
        return (f"mentor={folder.path.absolute()}",)

    @property
    def digest(self) -> str:
        """Changes with the config, every setting of the method, and the mentors that it takes.

        Of the machine only a precision that is asked for is part of it. The code is not: results
        name the commit that made them.
        Settings of the method count by their values, whether they were given or are defaults.
        Config settings at their default are left out, and so are method settings in `_LATER` that
        are off, so that a new setting changes no digest. Tests hold these defaults, and the weights
        of the mentor `pd`, which PD and DD start with: whoever changes one makes the results anew.
        """
        method, settings = self._named()
        for name, off in _LATER.items():
            if settings.get(name) == off:
                del settings[name]
        if settings.get("updates") == ():  # of a transferred mentor, which counted them once
            settings["updates"] = _UPDATES
        plain = replace(self.config, machine=MachineConfig(), method=method)
        about = f"{plain.data} {changed(plain)} {sorted(settings.items())} {self.tuning!r}"
        mentor = shipped().get(f"{settings.get('mentor')}")
        if mentor is not None and parse_settings(self.config.method.set).get("mentor"):
            about += hashlib.sha256((mentor / WEIGHTS).read_bytes()).hexdigest()
        if self.mentors_of is not None:
            about += f" {self.mentors_of.digest}"
        if self.precision != "auto":
            about += f" {self.precision}"
        return hashlib.sha256(about.encode()).hexdigest()[:10]

    @property
    def key(self) -> str:
        config = self.config
        noise = config.labels.noise or "as-given"
        words = (
            config.data, config.student.student or "student", noise.rpartition("/")[2],
            self._named()[0].method or "method", f"{config.seed}",
        )  # fmt: skip
        name = "-".join(re.sub(r"[^\w.]+", "-", word) for word in words)
        return f"{name}-{self.digest}"

    def _named(self) -> tuple[MethodConfig, dict[str, Any]]:
        """What supervises the run, by name, and its settings with their values."""
        if self.recipe is not None:
            return MethodConfig(self.recipe.name), dict(self.recipe.settings)
        method = self.config.method
        made = make_method(method.method or "", **parse_settings(method.set))
        return replace(method, set=()), dict(made.settings)

    def attempt(
        self, settings: Sequence[str], folder: Path, observer: Observer
    ) -> Mapping[str, Any]:
        summary = _train(trial_config(self, settings), folder, observer)
        last = RunFolder(folder).read_metrics()[-1]
        return {
            "validation_accuracy": last["validation_accuracy"],
            "seconds": summary["seconds"],
        }

    def score(self, trial: Mapping[str, Any]) -> float:
        return float(trial["validation_accuracy"])

    def make(self, settings: Sequence[str], folder: Path, observer: Observer) -> dict[str, Any]:
        config, before = with_settings(self.config, settings), 0.0
        if self.recipe is not None:
            config, before = self.recipe.prepare(config, folder.with_name("recipe"), observer)
        summary = _train(config, folder, observer)
        made = RunFolder(folder)
        rows, stored = made.read_metrics(), read_config(made.config)
        summary = {**summary, "seconds": summary["seconds"] + before}
        return {
            "run": {name: summary[name] for name in _KEPT if name in summary},
            "train_accuracy": rows[-1]["train_accuracy"],
            "curve": {name: [row.get(name) for row in rows] for name in _CURVE if name in rows[-1]},
            "config": asdict(stored),
            **self._made_with(stored),
        }

    def _made_with(self, stored: TrainConfig) -> dict[str, Any]:
        """The settings of the method in use; of a transfer, the run that learned the mentors."""
        settings = parse_settings(stored.method.set)
        if self.mentors_of is None:
            return {"settings": settings}
        return {"settings": {**settings, "mentor": ""}, "mentors_of": self.mentors_of.key}


def trial_config(run: Run, settings: Sequence[str]) -> TrainConfig:
    """The config of a trial: on nine tenths of the images, evaluated on the rest as given."""
    config, tuning = run.config, run.tuning
    assert tuning is not None
    optimiser = config.optimiser
    if tuning.epochs is not None:
        optimiser = replace(optimiser, epochs=tuning.epochs, steps=None)
    optimiser = replace(optimiser, evaluate_every=_ONLY_AT_THE_END)
    files = replace(config.files, validation=HELD_OUT)
    return with_settings(replace(config, files=files, optimiser=optimiser), settings)


def with_settings(config: TrainConfig, words: Iterable[str]) -> TrainConfig:
    """The config with further settings of its method, or as `optimiser.NAME=VALUE` of that.

    >>> tried = with_settings(TrainConfig("digits"), ("optimiser.epochs=20", "beta=0.9"))
    >>> tried.optimiser.epochs, tried.method.set
    (20, ('beta=0.9',))
    """
    prefix, given = "optimiser.", tuple(words)
    about = tuple(word.removeprefix(prefix) for word in given if word.startswith(prefix))
    rest = tuple(word for word in given if not word.startswith(prefix))
    changes: dict[str, Any] = {**parse_settings(about)}
    return replace(
        config,
        method=replace(config.method, set=overridden(config.method.set, rest)),
        optimiser=replace(config.optimiser, **changes),
    )


def _train(config: TrainConfig, out: Path, observer: Observer) -> dict[str, Any]:
    begun = RunFolder(out).config
    if not begun.exists():
        return train(config, out, observer=observer)
    config = replace(config, machine=read_config(begun).machine)  # it continues as it began
    return train(config, out, resume=True, observer=observer)
