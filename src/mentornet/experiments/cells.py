"""An experiment as data: which number of which job stands in which cell of a table."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from mentornet.config import Precision
from mentornet.errors import MentorNetError
from mentornet.experiments.jobs import Job
from mentornet.experiments.statistics import Estimate

__all__ = ["Cell", "Reads", "Scale", "Table", "select"]

Scale = Literal["paper", "small"]
Reads = Literal[
    "accuracy_last", "accuracy_best", "accuracy_top5_last", "imagenet_accuracy_last",
    "imagenet_accuracy_top5_last", "train_accuracy", "parameters", "mse",
]  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One number of a table.

    Args:
        row: the name of the row, mostly a method.
        column: the name of the column.
        run: the job that gives the number, with its first seed.
        reads: which number of the job's result.
        paper: the paper's number there, as a share, if it has one.
        seeds: how many seeds the cell takes, if not as many as the table.
    """

    row: str
    column: str
    run: Job
    reads: Reads = "accuracy_last"
    paper: float | Estimate | None = None
    seeds: int | None = None


@dataclass(frozen=True)
class Table:
    """A table: its cells, row by row.

    Args:
        name: its name on the command line.
        title: what it shows.
        cells: in the order in which they are shown and made.
        note: what a reader has to know.
        seeds: the number of seeds of each cell that does not set its own.
        about: for rows whose name does not say it, what the row is and what it is told.
    """

    name: str
    title: str
    cells: tuple[Cell, ...]
    note: str = ""
    seeds: int = 1
    about: Mapping[str, str] = field(default_factory=dict)

    def seeds_of(self, cell: Cell, asked: int | None = None) -> int:
        """How many seeds the cell takes, or `asked` if that is given."""
        return asked or cell.seeds or self.seeds

    def runs(self, asked: int | None = None) -> Iterator[Job]:
        """Every job once, those that it needs before it, all first seeds before all second ones."""
        seen = set()
        most = max((self.seeds_of(cell, asked) for cell in self.cells), default=0)
        for seed in range(most):
            for cell in self.cells:
                if seed >= self.seeds_of(cell, asked):
                    continue
                for run in in_order(cell.run.with_seed(cell.run.seed + seed)):
                    if run.digest not in seen:
                        seen.add(run.digest)
                        yield run

    def with_precision(self, precision: Precision) -> Table:
        """The same table, with all its jobs in that number format."""
        cells = (replace(cell, run=cell.run.with_precision(precision)) for cell in self.cells)
        return replace(self, cells=tuple(cells))

    @property
    def rows(self) -> list[str]:
        """The names in the order of the cells."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """The names in the order of the cells."""
        return list(dict.fromkeys(cell.column for cell in self.cells))


def in_order(job: Job) -> Iterator[Job]:
    """The jobs that a job needs, and then the job itself."""
    for needed in job.needs:
        yield from in_order(needed)
    yield job


def select(table: Table, only: Iterable[str]) -> Table:
    """The part of the table that words such as `row=mentornet-*` and `column=0.4` ask for.

    Several words for rows add up, and so do several words for columns. `*` stands for anything,
    unless the word is the exact name of a row or column.
    """
    words = tuple(only)
    wanted = _chooser(table, words)
    cells = tuple(cell for cell in table.cells if wanted(cell))
    if not cells:
        raise MentorNetError(f"{table.name} has no cell with {' '.join(words)}")
    return replace(table, cells=cells)


def _chooser(table: Table, only: Iterable[str]) -> Callable[[Cell], bool]:
    """A function that tells whether the words of `only` ask for a cell."""
    known = {"row": table.rows, "column": table.columns}
    asked: dict[str, set[str]] = {"row": set(), "column": set()}
    for word in only:
        kind, equals, pattern = word.partition("=")
        if kind not in asked or not equals:
            raise MentorNetError(f"only takes row=… or column=…, got {word!r}")
        names = known[kind]
        found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not found:
            raise MentorNetError(
                f"{table.name} has no {kind} {pattern!r}; there are {', '.join(names)}"
            )
        asked[kind] |= set(found)
    return lambda cell: (
        (not asked["row"] or cell.row in asked["row"])
        and (not asked["column"] or cell.column in asked["column"])
    )
