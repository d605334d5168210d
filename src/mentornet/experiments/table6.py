"""App. D's table: how well five architectures learn six predefined curricula.

Six weightings × five architectures × five repeats on 300k enumerated samples, step size
10. The paper says Adam and no more, so every cell gets the best of three learning rates,
chosen on its first repeat; which were tried, and what they gave, is part of the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from mentornet.curricula import make_curriculum
from mentornet.experiments.cells import chooser
from mentornet.experiments.conditions import conditions
from mentornet.experiments.runner import Job, Result, run_missing
from mentornet.experiments.statistics import Estimate, estimate, parse_estimate
from mentornet.mentors import ARCHITECTURES, FitConfig, enumerate_features, fit_curriculum
from mentornet.mentors.architectures import make_mentor

__all__ = [
    "EXPLICIT",
    "LEARNING_RATES",
    "NAMES",
    "PAPER",
    "WEIGHTINGS",
    "Cell",
    "Progress",
    "Table6",
    "cells",
    "run_fit",
    "run_table6",
]

Settings = dict[str, float | bool]

WEIGHTINGS: dict[str, Settings] = {
    # Between two grid points, so that v* is the only minimiser of Eq. 4; v* is as for 0.
    "self-paced": {"lambda1": 0.05},
    "hard-negative-mining": {},
    "linear": {"lambda1": 0.0, "lambda2": 1.0, "relative": True},
    "prediction-variance": {},
    "focal": {},
    "temporal-mixture": {},
}
"""The rows, with the settings that differ from the curriculum's defaults."""

EXPLICIT = ("self-paced", "linear")
"""The rows of known G, on which explicit and implicit training are compared."""

NAMES = {
    "logistic": "Logistic",
    "mlp": "MLP",
    "cnn": "CNN",
    "batch-lstm": "RNN",
    "bilstm": "MentorNet (bi-LSTM)",
}
"""The architectures as the paper's table heads its columns."""

LEARNING_RATES = (0.01, 0.03, 0.1)
_SHORT = (100, 300)  # steps of fits that are timed; enough for as many looks as long ones have

_PAPER = """
self-paced           8.9±0.8E-3 1.1±0.3E-5 4.9±1.0E-2 1.6±1.0E-2 1.6±0.5E-6
hard-negative-mining 7.1±0.7E-3 1.6±0.6E-5 2.7±0.6E-3 2.2±0.4E-3 6.6±4.5E-7
linear               9.2±0.1E-4 1.2±0.4E-4 1.1±0.2E-4 2.0±0.3E-2 4.4±1.3E-5
prediction-variance  6.8±0.1E-3 4.0±0.1E-3 2.8±0.4E-2 6.2±0.2E-3 1.4±0.7E-3
focal                1.7±0.0E-3 6.0±3.5E-5 1.2±0.3E-2 1.2±0.3E-2 1.5±0.8E-5
temporal-mixture     1.8±0.0E-1 1.9±0.4E-2 1.2±0.6E-1 6.6±0.4E-2 1.2±1.1E-4
"""

PAPER: dict[str, dict[str, Estimate]] = {
    row: {arch: parse_estimate(text, n=5) for arch, text in zip(ARCHITECTURES, texts, strict=True)}
    for row, *texts in (line.split() for line in _PAPER.strip().splitlines())
}
"""The paper's own numbers: mean and half the 90 % confidence interval of 5 repeats."""


class Cell(NamedTuple):
    """One number of the table."""

    row: str
    arch: str
    objective: Literal["implicit", "explicit"] = "implicit"


@dataclass(frozen=True)
class Table6:
    """What the table is run with; the defaults are the paper's.

    Args:
        repeats: runs of each cell, from different starting values.
        samples: enumerated samples that every run learns from and is judged on.
        history: T, the LSTM's step size.
        steps: of Adam, 256 samples each.
    """

    repeats: int = 5
    samples: int = 300_000
    history: int = 10
    steps: int = FitConfig().steps

    def job(self, cell: Cell, learning_rate: float, repeat: int) -> Job:
        """One repeat of one cell."""
        settings = {
            **cell._asdict(),
            "settings": make_curriculum(cell.row, **WEIGHTINGS[cell.row]).settings,
            "learning_rate": learning_rate,
            "seed": repeat,
            "samples": self.samples,
            "history": self.history,
            "steps": self.steps,
            "batch_size": FitConfig().batch_size,
        }
        return Job("-".join([*cell, f"rate{learning_rate:g}", f"{repeat}"]), run_fit, settings)

    def fits(self, cell: Cell, folder: Path) -> tuple[int, int]:
        """How many fits of a cell `folder` has, and how many it takes."""
        wanted = len(LEARNING_RATES) + self.repeats - 1
        made = [
            self.job(cell, rate, repeat).stored(folder) is not None
            for rate in LEARNING_RATES
            for repeat in range(self.repeats)
        ]
        return min(sum(made), wanted), wanted

    def seconds(self, arch: str) -> float:
        """What a fit of such a network takes, from two short ones."""
        row = next(iter(WEIGHTINGS))
        took, threads = [], torch.get_num_threads()
        torch.set_num_threads(1)  # as the fits will have
        try:
            for steps in _SHORT:
                short = replace(self, steps=steps)
                job = short.job(Cell(row, arch), LEARNING_RATES[0], 0)
                started = time.process_time()
                job.function(**job.settings)
                took.append(time.process_time() - started)
        finally:
            torch.set_num_threads(threads)
        step = max(took[1] - took[0], 0) / (_SHORT[1] - _SHORT[0])
        return took[1] + step * max(self.steps - _SHORT[1], 0)


def cells(only: Iterable[str] = ()) -> list[Cell]:
    """The cells, row by row, then the explicit ones that only the figure shows.

    Args:
        only: which of them, such as `row=linear` or `column=bilstm`; without, all.
    """
    every = [Cell(row, arch) for row in WEIGHTINGS for arch in ARCHITECTURES]
    every += [Cell(row, "bilstm", "explicit") for row in EXPLICIT]
    wanted = chooser("table6", WEIGHTINGS, ARCHITECTURES, only)
    return [cell for cell in every if wanted(cell.row, cell.arch)]


def run_fit(
    *,
    row: str,
    arch: str,
    objective: Literal["implicit", "explicit"],
    settings: Settings,
    learning_rate: float,
    seed: int,
    samples: int,
    history: int,
    steps: int,
    batch_size: int,
) -> Result:
    """Fit one mentor of one architecture to one curriculum, and report its error curve."""
    features = enumerate_features(samples, history=history)
    record = fit_curriculum(
        make_mentor(arch, history=history, seed=seed),
        make_curriculum(row, **settings),
        features,
        FitConfig(steps, batch_size, learning_rate, seed=seed),
        objective=objective,
    )
    epochs = [step * batch_size / samples for step in record.steps]
    return {
        "mse": record.error,
        "seconds": round(record.seconds, 1),
        "curve": {"epoch": epochs, "mse": record.errors},
    }


@dataclass
class Progress:
    """How far the table is: what each finished cell gave, and how many fits are left."""

    done: int = 0
    total: int = 0
    results: dict[Cell, dict[float, dict[int, Result]]] = field(default_factory=dict)

    def add(self, job: Job, result: Result) -> None:
        """File the result of one job."""
        cell = Cell(*(job.settings[name] for name in Cell._fields))
        rates = self.results.setdefault(cell, {})
        rates.setdefault(job.settings["learning_rate"], {})[job.settings["seed"]] = result
        self.done += 1

    def best_rate(self, cell: Cell) -> float:
        """The learning rate whose first repeat has the lowest error."""
        rates = self.results[cell]
        tried = [rate for rate in rates if 0 in rates[rate]]
        return min(tried, key=lambda rate: rates[rate][0]["mse"])

    def repeats(self, cell: Cell) -> list[Result]:
        """The finished repeats of a cell at its best learning rate so far."""
        if cell not in self.results:
            return []
        best = self.results[cell][self.best_rate(cell)]
        return [best[seed] for seed in sorted(best)]


def run_table6(
    table: Table6,
    folder: Path,
    *,
    only: Iterable[str] = (),
    processes: int = 2,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> dict[str, Any]:
    """Run the cells that `folder` does not hold yet, and return the table.

    First every cell's first repeat at each learning rate, then the other repeats at the
    best of them.
    """
    every = cells(only)
    progress = Progress(total=len(every) * (len(LEARNING_RATES) + table.repeats - 1))
    on_progress(progress)
    search = [table.job(cell, rate, 0) for cell in every for rate in LEARNING_RATES]
    for job, result in run_missing(search, folder, processes=processes):
        progress.add(job, result)
        on_progress(progress)
    rest = [
        table.job(cell, progress.best_rate(cell), repeat)
        for cell in every
        for repeat in range(1, table.repeats)
    ]
    for job, result in run_missing(rest, folder, processes=processes):
        progress.add(job, result)
        on_progress(progress)
    return _summary(table, every, progress)


def _summary(table: Table6, every: list[Cell], progress: Progress) -> dict[str, Any]:
    rows = []
    for cell in every:
        runs = progress.repeats(cell)
        ours = estimate([run["mse"] for run in runs])
        paper = PAPER[cell.row][cell.arch] if cell.objective == "implicit" else None
        tried = progress.results[cell]
        rows.append(
            {
                **cell._asdict(),
                "settings": make_curriculum(cell.row, **WEIGHTINGS[cell.row]).settings,
                "paper": paper and {"mean": paper.mean, "half_width": paper.half_width},
                "mean": ours.mean,
                "half_width": ours.half_width if ours.n > 1 else None,
                "n": ours.n,
                "values": [run["mse"] for run in runs],
                "seconds": [run["seconds"] for run in runs],
                "learning_rate": progress.best_rate(cell),
                "tried": {f"{rate:g}": tried[rate][0]["mse"] for rate in sorted(tried)},
                "curve": _mean_curve(runs),
            }
        )
    settings = {name: getattr(table, name) for name in ("repeats", "samples", "history", "steps")}
    return {"table": "table6", **settings, "conditions": conditions(), "cells": rows}


def _mean_curve(runs: list[Result]) -> dict[str, list[float]]:
    curves = [run["curve"]["mse"] for run in runs]
    mean = [sum(point) / len(point) for point in zip(*curves, strict=True)]
    return {"epoch": runs[0]["curve"]["epoch"], "mse": mean}
