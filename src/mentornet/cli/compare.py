"""`mentornet compare`: stored results, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console
from rich.text import Text

from mentornet.cli.reproduce_cells import shown
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import PAPER_TABLES, TABLES
from mentornet.experiments.cells import Scale
from mentornet.experiments.comparison import compare
from mentornet.experiments.results import TABLE6, Results
from mentornet.experiments.table6_page import show_stored
from mentornet.names import pick

__all__ = ["Compare"]


@dataclass(frozen=True)
class Compare:
    """Show the results in a folder: mean, range and number of seeds, ours against the paper.

    Where there are FullModel and the oracle, the share of the gap between them that a method
    closes stands beside it, last epochs.

    For example:

      mentornet compare runs/benchmark-small
      mentornet compare results/benchmark --table benchmark --seeds 3
    """

    folder: tyro.conf.Positional[Path]
    """What `mentornet reproduce` has written."""

    table: str | None = None
    """Only this table; by default all that have results there."""

    seeds: int | None = None
    """How many runs of each cell to look for; by default all that are there."""

    def run(self) -> None:
        """Print every table that has results."""
        if self.seeds is not None and self.seeds < 1:
            raise MentorNetError(f"seeds must be ≥ 1, got {self.seeds}")
        results, console = Results(self.folder), Console(highlight=False)
        has_runs = any(True for _ in results.every())
        if (self.folder / TABLE6).is_file() and self.table in (None, "table6"):
            page = show_stored(self.folder / TABLE6).replace("<br>", ", paper ")
            console.print(Text(page), soft_wrap=True)
            if self.table == "table6" or not has_runs:
                return
        if not has_runs:
            raise MentorNetError(
                f"{self.folder} has no results; make some with mentornet reproduce"
            )
        if self.table == "table6":
            raise MentorNetError(f"{self.folder} has no {TABLE6}, which reproduce table6 writes")
        if self.table is not None:
            pick({**TABLES, "table6": None}, self.table, "table")
        printed = 0
        for name in [self.table] if self.table else TABLES:
            scales: tuple[Scale, ...] = ("small", "paper") if name in PAPER_TABLES else ("small",)
            for scale in scales:
                table = TABLES[name](scale)
                entries = compare(table, results, self.seeds or results.most_seeds())
                if not any(entry.values for entry in entries.values()):
                    continue
                console.print(shown(table, entries))
                if table.note:
                    console.print(Text(table.note, style="dim"))
                printed += 1
        if not printed:
            raise MentorNetError(
                f"{self.folder} has results, but none of a run that these tables have now; were "
                "they made by another version?"
            )
