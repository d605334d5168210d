"""`mentornet reproduce`: the paper's tables and figures, our numbers beside the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console

from mentornet.cli.listing import listed
from mentornet.cli.reproduce_cells import Engine, list_cells, reproduce_cells, show_plan
from mentornet.config import Precision
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import FIGURES, TABLES, figure_table, find_table
from mentornet.experiments.cells import Scale, Table, select
from mentornet.names import pick

__all__ = ["Reproduce"]

_WHAT = listed(
    f"The table to make ({', '.join(TABLES)}), or the figure:", FIGURES,
    "Appendix and table numbers are those of the paper.",
)  # fmt: skip

Written = list[Path]  # `list` is an option below


@dataclass(frozen=True)
class Reproduce:
    """Run a table or figure of the paper, and show our numbers beside the paper's.

    Every result is stored in OUT as one JSON file, with the conditions under which it was made.
    After an interruption the same command continues, and makes only what is missing.
    `mentornet compare OUT` shows the results again.

    For example:

      mentornet reproduce table2 --only row=mentornet-dd "column=cifar10 *"
      mentornet reproduce table3 --seeds 3 --jobs 2
      mentornet reproduce table2 --scale paper --dry-run
      mentornet reproduce table2 --scale paper --engine ray --address auto

    Attributes:
        scale: paper: the settings of App. E, for GPUs; small: the same methods, for two CPU cores.
        out: Folder for results and runs; by default runs/WHAT-SCALE.
        seeds: Number of seeds of each cell; by default the table's own number.
        only: Make only these cells: row=NAME or column=NAME, where * stands for anything.
        list: Only list the cells, with the paper's numbers and how many of their runs are done.
            Without WHAT, list the tables and figures.
        dry_run: Only list what would run, and about how long it would take: at small scale on this
            machine, where a few steps are timed, and at paper scale on a GPU.
        jobs: Number of runs at a time on this machine, each on one thread.
        engine: What makes the runs: processes of this machine, or Ray on many machines.
        address: Address of the Ray cluster, with --engine ray; by default one on this machine.
        precision: Number format of training runs: 32, bf16, or auto for bf16 where a long run gains
            by it. By default 32 at paper scale, else auto. Results of another format are never
            mixed in.
    """

    what: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="WHAT", help=_WHAT)] = (
        None
    )

    scale: Scale = "small"
    out: Path | None = None
    seeds: int | None = None
    only: tuple[str, ...] = ()
    list: bool = False
    dry_run: bool = False
    jobs: int = 2
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    precision: Precision | None = None

    def run(self) -> None:
        """Make what is missing, and show the table as it fills in."""
        if self.what is None:
            self._list_all()
            return
        for name, value in (("seeds", self.seeds), ("jobs", self.jobs)):
            if value is not None and value < 1:
                raise MentorNetError(f"{name} must be ≥ 1, got {value}")
        if self.address is not None and self.engine != "ray":
            raise MentorNetError("--address is for --engine ray")
        out = self.folder()
        pick({**TABLES, **FIGURES}, self.what, "table or figure")
        engine = Engine(self.engine, self.jobs, self.address)
        table = self._table()
        self._check(table)
        if table is not None and self.list:
            list_cells(table, out, self.seeds)
        elif table is not None and self.dry_run:
            show_plan(table, out, self.seeds, engine, self.scale)
        else:
            written = self._make(table, out, engine)
            console = Console(highlight=False, markup=False)
            console.print()
            for path in written:
                console.print(f"wrote {path}")

    def folder(self) -> Path:
        """The folder for results and runs."""
        return self.out or Path("runs") / f"{self.what}-{self.scale}"

    def _list_all(self) -> None:
        """Print the names of all tables and figures."""
        if not self.list:
            raise MentorNetError(
                "WHAT is missing: name a table or a figure, as in mentornet reproduce table2; "
                "mentornet reproduce --list shows all of them"
            )
        known = {name: find_table(name, self.scale).title for name in TABLES} | FIGURES
        width = max(map(len, known))
        for name, about in known.items():
            print(f"{name:{width}}  {about}")

    def _table(self) -> Table | None:
        """The cells to make; None for a figure that is drawn from formulas."""
        assert self.what is not None
        if self.what in FIGURES:
            table = figure_table(self.what, self.scale)
        else:
            table = select(find_table(self.what, self.scale), self.only)
        if table is None or self.precision is None:
            return table
        return table.with_precision(self.precision)

    def _check(self, table: Table | None) -> None:
        """Raise if an option has no meaning for what is made."""
        unused = []
        if self.what in FIGURES:
            unused += ["--seeds"] * (self.seeds is not None) + ["--only"] * bool(self.only)
        kinds = set() if table is None else {cell.run.kind for cell in table.cells}
        if "training" not in kinds:
            unused += ["--precision"] * (self.precision is not None)
        if table is None:
            unused += ["--list"] * self.list + ["--dry-run"] * self.dry_run
            unused += ["--engine"] * (self.engine != "local")
        if unused:
            raise MentorNetError(f"{unused[0]} has no meaning for {self.what}; leave it out")

    def _make(self, table: Table | None, out: Path, engine: Engine) -> Written:
        assert self.what is not None
        if self.what in FIGURES:
            from mentornet.cli.reproduce_figure import reproduce_figure  # needs matplotlib

            return reproduce_figure(self.what, table, out, self.scale, engine)
        assert table is not None
        if self.what == "table6" and not self.only:
            from mentornet.cli.reproduce_figure import reproduce_table6

            return reproduce_table6(table, out, self.seeds, engine)
        return reproduce_cells(table, out, self.seeds, engine)
