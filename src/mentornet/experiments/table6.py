"""App. D's table: how well five architectures learn six predefined curricula.

Six weightings × five architectures × five seeds on 300,000 enumerated samples, step size 10. The
paper says that it uses Adam, and no more. Every cell therefore takes the best of three learning
rates, chosen with its first seed; what each rate gave is part of the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mentornet.experiments.cells import Cell, Scale, Table
from mentornet.experiments.fits import Fit, FitSettings, Objective
from mentornet.experiments.jobs import Tuning
from mentornet.experiments.results import Results
from mentornet.experiments.statistics import Estimate, parse_estimate
from mentornet.mentors import ARCHITECTURES

__all__ = [
    "EXPLICIT", "EXPLICIT_COLUMN", "LEARNING_RATES", "NAMES", "PAPER", "WEIGHTINGS",
    "architecture_curves", "objective_curves", "table6",
]  # fmt: skip

Curves = dict[str, dict[str, Mapping[str, Sequence[float]]]]

WEIGHTINGS: dict[str, dict[str, float | bool]] = {
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
"""The rows whose G is known, on which explicit and implicit training are compared."""

EXPLICIT_COLUMN = "bilstm explicit"
"""The column of explicit training, which the paper shows in a figure only."""

NAMES = {
    "logistic": "Logistic",
    "mlp": "MLP",
    "cnn": "CNN",
    "batch-lstm": "RNN",
    "bilstm": "MentorNet (bi-LSTM)",
}
"""The architectures as the paper's table heads its columns."""

LEARNING_RATES = (0.01, 0.03, 0.1)

_DRAWN = ("hard-negative-mining", "temporal-mixture")
"""The rows whose architectures the paper's figure compares."""

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

SMALL: dict[str, int] = {"samples": 30_000, "steps": 500}
"""What the small scale changes, beside the number of seeds."""


def table6(scale: Scale) -> Table:
    """The mean squared error of every architecture on every curriculum."""
    cells = [
        Cell(row, arch, _fit(scale, row, arch), "mse", PAPER[row][arch])
        for row in WEIGHTINGS
        for arch in ARCHITECTURES
    ]
    cells += [
        Cell(row, EXPLICIT_COLUMN, _fit(scale, row, "bilstm", "explicit"), "mse")
        for row in EXPLICIT
    ]
    return Table(
        "table6",
        "Mean squared error to v* (App. D), ± 90 % confidence",
        tuple(cells),
        seeds=5 if scale == "paper" else 2,
    )


def _fit(scale: Scale, row: str, arch: str, objective: Objective = "implicit") -> Fit:
    changes: dict[str, Any] = SMALL if scale == "small" else {}
    rates = tuple((f"learning_rate={rate:g}",) for rate in LEARNING_RATES)
    return Fit(FitSettings(row, arch, objective, WEIGHTINGS[row], **changes), Tuning(rates))


def architecture_curves(table: Table, results: Results, seeds: int) -> Curves:
    """The mean error of every architecture over the epochs, for the rows of the paper's figure."""
    columns = {arch: NAMES[arch] for arch in ARCHITECTURES}
    return _curves(table, results, seeds, _DRAWN, columns)


def objective_curves(table: Table, results: Results, seeds: int) -> Curves:
    """The mean error of the bi-LSTM over the epochs, under explicit and implicit training."""
    columns = {EXPLICIT_COLUMN: "explicit", "bilstm": "implicit"}
    return _curves(table, results, seeds, EXPLICIT, columns)


def _curves(
    table: Table, results: Results, seeds: int, rows: Sequence[str], columns: Mapping[str, str]
) -> Curves:
    jobs = {(cell.row, cell.column): cell.run for cell in table.cells}
    curves: Curves = {}
    for row in rows:
        curves[row] = {}
        for column, name in columns.items():
            found = [results.find(jobs[row, column].with_seed(seed)) for seed in range(seeds)]
            curves[row][name] = _mean([made["curve"] for made in found if made and made["curve"]])
    return curves


def _mean(curves: Sequence[Mapping[str, Sequence[float]]]) -> Mapping[str, Sequence[float]]:
    """The mean of several curves, point by point."""
    points = zip(*(curve["mse"] for curve in curves), strict=True)
    return {"epoch": curves[0]["epoch"], "mse": [sum(point) / len(point) for point in points]}
