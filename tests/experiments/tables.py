"""A table that a laptop fills in within seconds, on real digits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mentornet.config import MethodConfig, TrainConfig
from mentornet.experiments import engines
from mentornet.experiments.cells import Cell, Scale, Table
from mentornet.experiments.engines import Make, Outcome, _attempt, run_locally
from mentornet.experiments.fits import Fit
from mentornet.experiments.jobs import Job, Tuning
from mentornet.experiments.runs import Run, with_settings
from mentornet.experiments.work import make_job
from mentornet.methods import make_method
from mentornet.methods.settings import parse_numbers, parse_settings
from tests.processes import forked
from tests.training.runs import small


def config(method: str, **changes: object) -> TrainConfig:
    return small(method, **{"epochs": 2, "clean_count": None, **changes})


def tiny(scale: Scale = "small") -> Table:
    """FullModel, a tuned method and the oracle at two noise rates."""
    cells = []
    for noise in ("0.2", "0.4"):
        for method in ("full-model", "reed-soft", "oracle"):
            run = Run(config(method, noise=f"uniform:{noise}"))
            if method == "reed-soft":
                run = replace(run, tuning=Tuning((("beta=0.7",), ("beta=0.9",)), epochs=1))
            paper = 0.5 if method == "full-model" else None
            cells.append(Cell(method, noise, run, paper=paper))
    return Table("tiny", "A tiny table", tuple(cells), note="For tests.")


def broken() -> Run:
    """A run whose data is missing."""
    return Run(TrainConfig("no-such-folder", method=MethodConfig("full-model")))


def run_in_this_process(jobs: Iterable[Job], folder: Path, *, processes: int) -> Iterator[Outcome]:
    """What `run_locally` does, without the seconds that each new process takes to import torch."""
    del processes
    for job in jobs:
        yield Outcome(job, *_attempt(job, f"{folder}", None))


def make_in_fork(job: Job, folder: str, *, parent: int | None) -> dict[str, Any]:
    """As `make_job`; the process that forks, and not the one that waits, is its parent."""
    assert parent is not None
    return make_job(job, folder, parent=os.getppid())


def run_in_forks(
    jobs: Iterable[Job], folder: Path, *, processes: int, make: Make = make_in_fork
) -> Iterator[Outcome]:
    """`run_locally`, whose processes start at once: for tests that look at the jobs alone."""
    with pytest.MonkeyPatch.context() as patch:
        light = SimpleNamespace(get_context=lambda _: forked())
        patch.setattr(engines, "multiprocessing", light)
        yield from run_locally(jobs, folder, processes=processes, make=make)


def check_settings(table: Table) -> None:
    """Methods, settings and candidates exist; they are checked without the data."""
    assert table.cells
    assert len({(cell.row, cell.column) for cell in table.cells}) == len(table.cells)
    for cell in table.cells:
        run, tuning = cell.run, cell.run.tuning
        for candidate in tuning.candidates if tuning else ((),):
            if isinstance(run, Fit):
                chosen: dict[str, Any] = {**parse_numbers(candidate)}
                replace(run.config, **chosen).full()
                continue
            config = with_settings(run.config, candidate)
            assert config.method.method is not None
            make_method(config.method.method, **parse_settings(config.method.set))
