"""`mentornet compare`: stored results, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console
from rich.text import Text

from mentornet.cli.reproduce_cells import shown
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import TABLES, find_table
from mentornet.experiments.cells import Scale
from mentornet.experiments.comparison import compare
from mentornet.experiments.results import Results
from mentornet.names import pick

__all__ = ["Compare"]


@dataclass(frozen=True)
class Compare:
    """Show the stored results of a folder beside the paper's numbers.

    A cell shows the mean over its seeds, their range and their number. If a table has FullModel
    (plain training) and the oracle, a cell also shows how much of the gap between these two the
    method closes after the last epoch.

    For example:

      mentornet compare runs/table2-small
      mentornet compare results/table6 --table table6

    Attributes:
        folder: Folder that `mentornet reproduce` has written.
        table: Show only this table; by default every table that has results there.
        seeds: Number of seeds of each cell to show; by default all that have a result.
    """

    folder: tyro.conf.Positional[Path]
    table: str | None = None
    seeds: int | None = None

    def run(self) -> None:
        """Print every table that has results."""
        if self.seeds is not None and self.seeds < 1:
            raise MentorNetError(f"seeds must be ≥ 1, got {self.seeds}")
        if self.table is not None:
            pick(TABLES, self.table, "table")
        results, console = Results(self.folder), Console(highlight=False)
        if not any(True for _ in results.every()):
            raise MentorNetError(
                f"{self.folder} has no results; make some with mentornet reproduce"
            )
        scales: tuple[Scale, ...] = ("small", "paper")
        printed = 0
        for name in [self.table] if self.table else TABLES:
            for scale in scales:
                table = find_table(name, scale)
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
