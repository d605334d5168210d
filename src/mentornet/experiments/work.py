"""Making one run of an experiment: tune, train, write down what came of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mentornet.config import TrainConfig, read_config, to_toml
from mentornet.experiments.cells import HELD_OUT, Run, with_settings
from mentornet.experiments.conditions import conditions
from mentornet.experiments.results import Results
from mentornet.files import read_json, write_json
from mentornet.locking import alone
from mentornet.training import RunFolder, train
from mentornet.training.observer import Observer

__all__ = ["make_run", "trial_config"]

_KEPT = (
    "data", "method", "student", "parameters", "seed", "epochs", "steps", "accuracy_last",
    "accuracy_best", "best_epoch", "seconds", "images_per_second", "noise_rate_actual",
    "weight_auroc", "mean_weight", "notes",
)  # fmt: skip
_ALSO = ("accuracy_top5_last", "imagenet_accuracy_last", "imagenet_accuracy_top5_last")
_CURVE = (
    "epoch", "step", "test_accuracy", "train_accuracy", "train_loss", "mean_weight",
    "weight_auroc", "validation_accuracy",
)  # fmt: skip
_ONLY_AT_THE_END = 1_000_000  # epochs between two judgements of a candidate


class Orphaned(Observer):
    """Ends the process when nobody waits for its result any more."""

    def __init__(self, parent: int | None) -> None:
        self.parent = parent

    def epoch(self, row: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._end_if_alone()

    def note(self, text: str) -> None:  # noqa: ARG002  between the folds of a cross-validation too
        self._end_if_alone()

    def _end_if_alone(self) -> None:
        if self.parent is not None and os.getppid() != self.parent:
            os._exit(1)  # what is on disk is whole; the run goes on from there


def make_run(run: Run, folder: str | Path, *, parent: int | None = None) -> dict[str, Any]:
    """The result of `run`, which is in `folder` afterwards.

    Whoever asks for the same run at the same time waits, and finds it made.

    Args:
        run: what to make.
        folder: of the experiment.
        parent: the process that waits for it; without it the run stops. None: never.
    """
    torch.set_num_threads(1)  # several runs share a machine
    results = Results(Path(folder))
    observer = Orphaned(parent)
    with _alone(results.working(run)):
        found = results.find(run)
        if found is not None:
            return found
        under = _conditions(results.working(run))
        config, tried = run.config, None
        if run.tuning is not None:
            tried = _tried(run, results, observer)
            config = _chosen(run, tried)
        out = results.working(run) / "run"
        summary = _train(config, out, observer)
        rows = RunFolder(out).read_metrics()
        result = {
            "run": {name: summary[name] for name in (*_KEPT, *_ALSO) if name in summary},
            "train_accuracy": rows[-1]["train_accuracy"],
            "curve": {name: [row.get(name) for row in rows] for name in _CURVE if name in rows[-1]},
            "tried": tried,
            "config": to_toml(read_config(RunFolder(out).config)),
            "conditions": under[0],
        }
        if under[1:]:
            result["went_on_under"] = under[1:]
        results.write(run, result)
    found = results.find(run)
    assert found is not None
    return found


def trial_config(run: Run, settings: tuple[str, ...]) -> TrainConfig:
    """How a candidate is tried: on nine tenths of the images, judged by the rest as given."""
    config, tuning = run.config, run.tuning
    assert tuning is not None
    optimiser = config.optimiser
    if tuning.epochs is not None:
        optimiser = replace(optimiser, epochs=tuning.epochs, steps=None)
    optimiser = replace(optimiser, evaluate_every=_ONLY_AT_THE_END)
    files = replace(config.files, validation=HELD_OUT)
    return with_settings(replace(config, files=files, optimiser=optimiser), settings)


def _tried(run: Run, results: Results, observer: Observer) -> list[dict[str, Any]]:
    """Every candidate with what it reached on the labels held out, at the first seed."""
    assert run.tuning is not None
    stored = results.tried(run)
    if stored is not None:
        return stored
    first = run.with_seed(0)
    folder = results.folder / "runs" / f"tuning-{first.key}"
    with _alone(folder):
        path = folder / "tried.json"
        if path.exists():
            found: list[dict[str, Any]] = read_json(path)["tried"]
            return found
        tried = []
        for settings in run.tuning.candidates:
            out = folder / "-".join(word.replace("=", "-") for word in settings)
            made = _train(trial_config(first, settings), out, observer)
            last = RunFolder(out).read_metrics()[-1]
            accuracy = last["validation_accuracy"]
            tried.append(
                {"set": list(settings), "validation_accuracy": accuracy, "seconds": made["seconds"]}
            )
        write_json(path, {"tried": tried})
        return tried


def _chosen(run: Run, tried: list[dict[str, Any]]) -> TrainConfig:
    """The config with the settings that did best; the first of equals."""
    best = max(tried, key=lambda trial: float(trial["validation_accuracy"]))
    return with_settings(run.config, best["set"])


def _train(config: TrainConfig, out: Path, observer: Observer) -> dict[str, Any]:
    begun = out / "config.toml"
    if not begun.exists():
        return train(config, out, observer=observer)
    config = replace(config, machine=read_config(begun).machine)  # it goes on as it began
    return train(config, out, resume=True, observer=observer)


def _conditions(working: Path) -> list[dict[str, str | int]]:
    """Under which a run was begun, and then gone on with where they were others.

    They are noted before it trains: when it has ended, the code on disk may be another.
    """
    path = working / "conditions.json"
    under: list[dict[str, str | int]] = read_json(path)["under"] if path.exists() else []
    now = conditions()
    if not under or under[-1] != now:
        under.append(now)
        write_json(path, {"under": under})
    return under


def _alone(folder: Path) -> Any:
    folder.mkdir(parents=True, exist_ok=True)
    return alone(folder)
