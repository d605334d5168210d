"""`mentornet reproduce`: the paper's tables and figures, ours beside the paper's."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mentornet.errors import MentorNetError
from mentornet.experiments.statistics import estimate
from mentornet.experiments.style import save
from mentornet.experiments.table6 import PAPER, WEIGHTINGS, Cell, Progress, Table6, run_table6
from mentornet.experiments.table6_figures import NAMES, draw_architectures, draw_objectives
from mentornet.experiments.table6_page import render_page
from mentornet.files import write_json, write_text
from mentornet.mentors import ARCHITECTURES

__all__ = ["Reproduce"]


@dataclass(frozen=True)
class Reproduce:
    """Run a table of the paper, print ours beside the paper's, write JSON and figures.

    What has run is kept in OUT/runs: after an interruption the same command goes on.

    For example::

      mentornet reproduce table6
      mentornet reproduce table6 --repeats 2 --steps 500 --out runs/quick
    """

    what: tyro.conf.Positional[Literal["table6"]]
    """table6: the MSE of five architectures on six predefined curricula (App. D)."""

    out: Path = Path("runs/table6")
    """Folder for table6.json, the figures and the single runs."""

    repeats: int = Table6.repeats
    """Runs of each cell."""

    samples: int = Table6.samples
    """Enumerated samples."""

    steps: int = Table6.steps
    """Steps of Adam in each run."""

    processes: int = 2
    """Runs side by side, a thread each."""

    def run(self) -> None:
        """Run what is missing and show the table as it fills in."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and value < 1:
                raise MentorNetError(f"{field.name} must be ≥ 1, got {value}")
        table = Table6(repeats=self.repeats, samples=self.samples, steps=self.steps)
        console, started = Console(highlight=False), time.monotonic()
        with Live(console=console, refresh_per_second=2) as live:
            result = run_table6(
                table,
                self.out / "runs",
                processes=self.processes,
                on_progress=lambda progress: live.update(_view(progress, started)),
            )
        write_json(self.out / "table6.json", result)
        write_text(self.out / "README.md", render_page(result))
        written = [self.out / "table6.json", self.out / "README.md"]
        written += save(draw_architectures(result), self.out / "architectures")
        written += save(draw_objectives(result), self.out / "objectives")
        for path in written:
            console.print(f"wrote {path}")


def _view(progress: Progress, started: float) -> Group:
    """The table so far: in each cell ours, and the paper's below it."""
    table = Table(title="Mean squared error to v*, ours above the paper's, ± 90 % confidence")
    table.add_column("weighting", overflow="fold")
    for arch in ARCHITECTURES:
        table.add_column(NAMES[arch], justify="right")
    for row in WEIGHTINGS:
        shown = []
        for arch in ARCHITECTURES:
            runs = progress.repeats(Cell(row, arch))
            ours = str(estimate([run["mse"] for run in runs])) if runs else "…"
            shown.append(f"{ours}\n[dim]{PAPER[row][arch]}[/dim]")
        table.add_row(row, *shown)
    minutes = (time.monotonic() - started) / 60
    status = f"{progress.done} of {progress.total} fits, {minutes:.1f} min"
    return Group(table, Text(status))
