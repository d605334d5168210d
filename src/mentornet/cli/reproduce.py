"""`mentornet reproduce`: the paper's tables and figures, ours beside the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console

from mentornet.cli.reproduce_cells import Engine, list_cells, reproduce_cells, show_plan
from mentornet.cli.reproduce_table6 import list_table6, plan_table6, reproduce_table6
from mentornet.config import Precision
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import (
    FIGURES,
    PAPER_TABLES,
    TABLES,
    figure_table,
    find_table,
)
from mentornet.experiments.cells import Scale, Table, select
from mentornet.names import pick

__all__ = ["Reproduce"]

Written = list[Path]  # `list` is an option below


@dataclass(frozen=True)
class Reproduce:
    """Run a table or figure of the paper, or of our benchmark, and show ours beside the paper's.

    Tables: table1 … table6 of the paper; benchmark full-size transfer human are ours.
    Figures: fig-objectives fig-errors fig-curricula fig-architectures fig-training.

    What has run is kept in OUT: after an interruption the same command goes on, and only what is
    missing is run. Results are OUT/*.json, one a run, with the conditions they were made
    under; `mentornet compare OUT` shows them again.

    For example:

      mentornet reproduce table2 --only row=mentornet-dd "column=cifar10 *"
      mentornet reproduce benchmark --seeds 3 --jobs 2
      mentornet reproduce table2 --scale paper --dry-run
      mentornet reproduce table2 --scale paper --engine ray --address auto
    """

    what: tyro.conf.Positional[str]
    """Which table or figure."""

    scale: Scale = "small"
    """paper: as App. E gives it, for GPUs; small: the same methods, for two CPU cores."""

    out: Path | None = None
    """Folder for results and runs; by default runs/WHAT-SCALE."""

    seeds: int | None = None
    """Runs of each cell; by default what the table asks for."""

    only: tuple[str, ...] = ()
    """Only these cells: row=NAME, column=NAME, with * for anything."""

    list: bool = False
    """Only say which cells there are, with the paper's numbers and what is done."""

    dry_run: bool = False
    """Only say what would run, and about how long it would take here."""

    jobs: int = 2
    """Runs side by side on this machine, a thread each."""

    engine: Literal["local", "ray"] = "local"
    """Who runs them: processes of this machine, or Ray on many."""

    address: str | None = None
    """With --engine ray: the cluster; by default one on this machine."""

    precision: Precision = "auto"
    """Number format of the runs: 32 or bf16; by default bf16 where it pays in a long run."""

    def run(self) -> None:
        """Run what is missing, and show the table as it fills in."""
        for name, value in (("seeds", self.seeds), ("jobs", self.jobs)):
            if value is not None and value < 1:
                raise MentorNetError(f"{name} must be ≥ 1, got {value}")
        if self.address is not None and self.engine != "ray":
            raise MentorNetError("--address is for --engine ray")
        out = self.out or Path("runs") / f"{self.what}-{self.scale}"
        pick({**TABLES, **FIGURES, "table6": None}, self.what, "table or figure")
        engine = Engine(self.engine, self.jobs, self.address, self.precision)
        table = self._table()
        if table is None:
            self._check_without_runs()
        if self.what in FIGURES and (self.seeds is not None or self.only):
            word = "--only" if self.only else "--seeds"
            raise MentorNetError(f"{word} has no meaning for {self.what}; leave it out")
        if self.list or self.dry_run:
            self._show(table, out, engine)
            return
        console = Console(highlight=False, markup=False)
        written = self._make(table, out, engine)
        console.print()
        for path in written:
            console.print(f"wrote {path}")

    def _table(self) -> Table | None:
        """What is to be run; None where it is no training, but fits or formulas."""
        if self.what in FIGURES:
            return figure_table(self.what, self.scale)
        if self.what == "table6":
            return None
        if self.scale == "paper" and self.what not in PAPER_TABLES:
            raise MentorNetError(f"{self.what} is ours, and small: leave out --scale")
        return select(find_table(self.what, self.scale), self.only)

    def _check_without_runs(self) -> None:
        shows = (self.list or self.dry_run) and self.what != "table6"
        if shows or self.engine != "local" or self.precision != "auto":
            more = "" if self.what == "table6" else "--list, --dry-run, "
            raise MentorNetError(
                f"{self.what} is made on this machine, in float32: leave out {more}--engine "
                "and --precision"
            )

    def _show(self, table: Table | None, out: Path, engine: Engine) -> None:
        seeds = 1 if self.what in FIGURES else self.seeds
        if table is None and self.list:
            list_table6(out, self.scale, seeds, self.only)
        elif table is None:
            plan_table6(out, self.scale, seeds, self.jobs, self.only)
        elif self.list:
            list_cells(table, out, seeds)
        else:
            show_plan(table, out, seeds, engine)

    def _make(self, table: Table | None, out: Path, engine: Engine) -> Written:
        if self.what in FIGURES:
            from mentornet.cli.reproduce_figure import reproduce_figure  # needs matplotlib

            return reproduce_figure(self.what, out, self.scale, engine)
        if table is None:
            return reproduce_table6(
                out, self.scale, seeds=self.seeds, jobs=self.jobs, only=self.only
            )
        return reproduce_cells(table, out, self.seeds, engine)
