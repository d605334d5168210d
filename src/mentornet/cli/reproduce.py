"""`mentornet reproduce`: the paper's tables and figures, ours beside the paper's."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

import tyro
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mentornet.errors import MentorNetError
from mentornet.experiments.statistics import estimate
from mentornet.experiments.table6 import (
    NAMES,
    PAPER,
    WEIGHTINGS,
    Cell,
    Progress,
    Table6,
    run_table6,
)
from mentornet.files import read_json, write_json, write_text
from mentornet.mentors import ARCHITECTURES

__all__ = ["Reproduce"]


@dataclass(frozen=True)
class Reproduce:
    """Run a table of the paper, print ours beside the paper's, write JSON and figures.

    What has run is kept in OUT/runs: after an interruption the same command goes on.

    For example:

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
        from mentornet.experiments.style import save
        from mentornet.experiments.table6_figures import draw_architectures, draw_objectives
        from mentornet.experiments.table6_page import render_page

        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and value < 1:
                raise MentorNetError(f"{field.name} must be ≥ 1, got {value}")
        table = Table6(repeats=self.repeats, samples=self.samples, steps=self.steps)
        self._check_out(table)
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
        console.print()
        for path in written:
            console.print(f"wrote {path}", markup=False)

    def _check_out(self, table: Table6) -> None:
        """An earlier table of other settings is not replaced."""
        path = self.out / "table6.json"
        if path.exists():
            earlier = read_json(path)
            for name, value in asdict(table).items():
                if earlier.get(name) != value:
                    raise MentorNetError(
                        f"{self.out} holds a table with {name} = {earlier.get(name)}, not "
                        f"{value}; choose another --out"
                    )


def _view(progress: Progress, started: float) -> Group:
    """The table so far: in each cell ours, and the paper's below it."""
    title = "Mean squared error to v*, ours above the paper's, ± 90 % confidence"
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("weighting", no_wrap=True)
    for arch in ARCHITECTURES:
        table.add_column(NAMES[arch].split(" (")[0], justify="right", overflow="fold")
    for row in WEIGHTINGS:
        shown = []
        for arch in ARCHITECTURES:
            runs = progress.repeats(Cell(row, arch))
            ours = str(estimate([run["mse"] for run in runs])) if runs else "…"
            shown.append(f"{ours}\n[dim]{PAPER[row][arch]}[/dim]")
        table.add_row("-\n".join(row.rsplit("-", 1)), *shown)
    minutes = (time.monotonic() - started) / 60
    status = f"{progress.done} of {progress.total} fits, {minutes:.1f} min"
    return Group(table, Text(status))
