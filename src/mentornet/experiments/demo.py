"""The demo: plain training, PD, DD and the oracle on digits with 40 % of the labels redrawn."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mentornet.config import LabelsConfig, MethodConfig, TrainConfig
from mentornet.errors import MentorNetError
from mentornet.experiments.conditions import conditions
from mentornet.experiments.engines import run_locally
from mentornet.experiments.page import render
from mentornet.experiments.runs import Run
from mentornet.figures.curves import draw_comparison
from mentornet.figures.style import save
from mentornet.files import read_json, write_json, write_text
from mentornet.methods import METHODS
from mentornet.training import RunFolder, train

__all__ = ["METHOD_NAMES", "demo_config", "markdown", "run_demo", "summarise"]

NOISE = "uniform:0.4"
VERIFIED = 150
METHOD_NAMES = ("full-model", "mentornet-pd", "mentornet-dd", "oracle")

_SETTINGS = {"mentornet-pd": ("percentile=0.6",)}
"""PD is told the share of right labels, which the paper finds by cross-validation."""


def demo_config(method: str, seed: int) -> TrainConfig:
    """The config of one run of the demo."""
    verified = VERIFIED if method == "mentornet-dd" else None
    return TrainConfig(
        "digits",
        seed=seed,
        labels=LabelsConfig(noise=NOISE, clean_count=verified),
        method=MethodConfig(method, _SETTINGS.get(method, ())),
    )


@dataclass(frozen=True)
class Line:
    """A row of the table: means over the seeds, as shares in [0, 1]."""

    method: str
    last: float
    best: float
    lowest: float
    highest: float
    seconds: float
    seeds: int


def run_demo(
    out: Path,
    *,
    seeds: int = 1,
    processes: int = 2,
    on_result: Callable[[int, int], None] | None = None,
) -> list[Line]:
    """Make all runs, and write `demo.json`, `curves.png`, `index.html` and the runs into `out`.

    Args:
        out: the folder. A demo that it holds is replaced; anything else is an error.
        seeds: how many seeds of each method.
        processes: how many runs at a time, each on one thread.
        on_result: called with the number of runs that are done, and of all runs.
    """
    for name, value in (("seeds", seeds), ("processes", processes)):
        if value < 1:
            raise MentorNetError(f"{name} must be ≥ 1, got {value}")
    _clear(out)
    write_json(out / "demo.json", {"results": []})  # marks the folder as ours
    jobs = [Run(demo_config(name, seed)) for seed in range(seeds) for name in METHOD_NAMES]
    found: dict[str, dict[str, Any]] = {}
    for outcome in run_locally(jobs, out, processes=processes, make=run_one):
        if outcome.result is None:
            raise MentorNetError(f"{outcome.run.config.method.method} failed: {outcome.error}")
        found[outcome.run.key] = outcome.result
        if on_result is not None:
            on_result(len(found), len(jobs))
    results = [found[job.key] for job in jobs]
    about = {"data": "digits", "noise": NOISE, "verified": VERIFIED, "conditions": conditions()}
    lines = summarise(results)
    _write(out, lines)
    write_json(out / "demo.json", {"results": results, **about})
    return lines


def run_one(run: Run, out: str, *, parent: int | None = None) -> dict[str, Any]:  # noqa: ARG001
    """Make one run of the demo, in a process of its own."""
    torch.set_num_threads(1)
    folder = Path(out) / "runs" / f"{run.config.method.method}-{run.seed}"
    summary = train(run.config, folder)
    kept = ("method", "seed", "accuracy_last", "accuracy_best", "seconds", "weight_auroc")
    return {key: summary[key] for key in (*kept, "noise_rate_actual", "notes")}


def summarise(results: Sequence[Mapping[str, Any]]) -> list[Line]:
    """One row for each method, in the order of the demo."""
    lines = []
    for name in METHOD_NAMES:
        mine = [result for result in results if result["method"] == name]
        last = [result["accuracy_last"] for result in mine]
        lines.append(
            Line(
                method=METHODS[name].title,
                last=sum(last) / len(mine),
                best=sum(result["accuracy_best"] for result in mine) / len(mine),
                lowest=min(last),
                highest=max(last),
                seconds=sum(result["seconds"] for result in mine) / len(mine),
                seeds=len(mine),
            )
        )
    return lines


def markdown(lines: Sequence[Line]) -> str:
    """The table for a README: accuracy in percent, mean and range over the seeds."""
    rows = []
    for line in lines:
        spread = f"{100 * line.lowest:.1f}–{100 * line.highest:.1f}"
        rows.append(f"| {line.method} | {100 * line.last:.1f} ({spread}) | {100 * line.best:.1f} |")
    return "\n".join(["| method | last epoch | best epoch |", "|---|---|---|", *rows])


def _write(out: Path, lines: list[Line]) -> None:
    runs = {
        METHODS[name].title: RunFolder(out / "runs" / f"{name}-0").read_metrics()
        for name in METHOD_NAMES
    }
    title = "Digits, 40 % of the labels redrawn (seed 0)"
    _, svg = save(draw_comparison(runs, title), out / "curves")
    page = render(
        "demo.html", lines=lines, noise=NOISE, verified=VERIFIED, conditions=conditions(),
        curves=svg.read_text(encoding="utf-8"),
    )  # fmt: skip
    write_text(out / "index.html", page)


def _clear(out: Path) -> None:
    """Remove the runs of an earlier demo; raise if the folder holds anything else."""
    if out.exists() and not out.is_dir():
        raise MentorNetError(f"out must be a folder, but {out} is a file")
    if not out.is_dir() or not any(out.iterdir()):
        return
    mark = out / "demo.json"
    if not mark.exists() or "results" not in read_json(mark):
        raise MentorNetError(f"{out} holds something else than a demo; choose another out")
    shutil.rmtree(out / "runs", ignore_errors=True)
