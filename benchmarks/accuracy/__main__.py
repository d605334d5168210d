"""Run our accuracy benchmark, or continue it: python -m benchmarks.accuracy [TABLE ...]."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from benchmarks.accuracy.tables import TABLES
from mentornet.cli.reproduce_cells import Engine, list_cells, reproduce_cells, show_plan
from mentornet.config import Precision
from mentornet.errors import MentorNetError
from mentornet.experiments.cells import select
from mentornet.names import pick

RESULTS = Path(__file__).parents[2] / "results" / "benchmark"


@dataclass(frozen=True)
class Benchmark:
    """Make the runs of our benchmark that have no result yet, and show its tables.

    For example:

      python -m benchmarks.accuracy --precision bf16
      python -m benchmarks.accuracy benchmark --only row=gce column=0.4 --seeds 3
    """

    tables: tyro.conf.Positional[tuple[str, ...]] = tuple(TABLES)
    """Tables: benchmark, full-size, transfer, human, systematic, protocol; by default all."""

    out: Path = RESULTS
    """Folder for results and runs."""

    seeds: int | None = None
    """Number of seeds of each cell; by default the table's own number."""

    only: tuple[str, ...] = ()
    """Make only these cells: row=NAME or column=NAME, where * stands for anything."""

    list: bool = False
    """Only list the cells, and how many of their runs are done."""

    dry_run: bool = False
    """Only list what would run, and about how long it would take on this machine."""

    jobs: int = 2
    """Number of runs at a time, each on one thread."""

    precision: Precision = "auto"
    """Number format of the runs: 32 or bf16; by default bf16 where a long run gains by it."""

    def run(self) -> None:
        """Make one table after another; raise in the end if any run failed."""
        for name, value in (("seeds", self.seeds), ("jobs", self.jobs)):
            if value is not None and value < 1:
                raise MentorNetError(f"{name} must be ≥ 1, got {value}")
        tables = [
            select(pick(TABLES, name, "table")(), self.only).with_precision(self.precision)
            for name in self.tables
        ]
        engine, failed = Engine(jobs=self.jobs), []
        for table in tables:
            if self.list:
                list_cells(table, self.out, self.seeds)
            elif self.dry_run:
                show_plan(table, self.out, self.seeds, engine)
            else:
                try:
                    reproduce_cells(table, self.out, self.seeds, engine)
                except MentorNetError as error:  # the other tables may have better luck
                    failed.append(f"{table.name}: {error}")
        if failed:
            raise MentorNetError("\n".join(failed))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; a mistake is one line on standard error and exit code 2."""
    try:
        tyro.cli(Benchmark, prog="python -m benchmarks.accuracy", args=arguments).run()
    except MentorNetError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("benchmark: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
