"""An experiment as data: which runs it takes, and which number of a run stands in which cell."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mentornet.config import MachineConfig, Precision, TrainConfig, changed
from mentornet.errors import MentorNetError
from mentornet.mentors.store import WEIGHTS, shipped
from mentornet.methods import make_method
from mentornet.methods.settings import parse_settings

__all__ = [
    "Cell", "Reads", "Run", "Scale", "Table", "Tuning", "chooser", "select", "with_settings",
]  # fmt: skip

Scale = Literal["paper", "small"]
Reads = Literal[
    "accuracy_last", "accuracy_best", "accuracy_top5_last", "imagenet_accuracy_last",
    "imagenet_accuracy_top5_last", "train_accuracy", "parameters",
]  # fmt: skip

HELD_OUT = 0.1
"""Share of the images that trials of tuning and early stopping do without, and are judged by."""

_LATER = {
    "sharpness": 0.0, "decided_by": 1.0, "mentor_classes": 0, "teaches_verified": False,
    "burn_in": 0.0,
}  # fmt: skip
"""Settings of methods that stored results do not know, at the value that changes nothing."""


@dataclass(frozen=True)
class Tuning:
    """Which settings are tried: of the method, as `--set` takes them, or `optimiser.NAME=VALUE`.

    Every candidate is trained without a tenth of the images, and judged by the labels that those
    were given, right or wrong: nobody who has to tune has other labels, and test labels are never
    looked at. The first seed's choice serves for all seeds.

    Args:
        candidates: what to try, a set of settings each.
        epochs: of each trial; None for as many as the run itself.
    """

    candidates: tuple[tuple[str, ...], ...]
    epochs: int | None = None


@dataclass(frozen=True)
class Run:
    """One training run, with the tuning that comes before it.

    Args:
        config: what is trained, and how.
        tuning: what is tried first.
    """

    config: TrainConfig
    tuning: Tuning | None = None

    def with_seed(self, seed: int) -> Run:
        """The same with another seed."""
        return replace(self, config=replace(self.config, seed=seed))

    def with_precision(self, precision: Precision) -> Run:
        """The same in that number format, which is the machine's business: its key stays."""
        machine = replace(self.config.machine, precision=precision)
        return replace(self, config=replace(self.config, machine=machine))

    @property
    def digest(self) -> str:
        """Changes with the config, every setting of the method, and the weights of a named mentor.

        The weights of `pd`, which PD and DD start with, a test holds still. The machine is not
        among it; what the code does is neither, so results name the commit they were made at.
        Defaults of the config are not, nor settings of the method that came later and are off, so
        that a setting more changes nothing: a test holds them still, and whoever changes one moves
        the old results away. Settings count by their values, whether said or by default.
        """
        method = self.config.method
        settings = dict(make_method(method.method or "", **parse_settings(method.set)).settings)
        for name, off in _LATER.items():
            if settings.get(name) == off:
                del settings[name]
        plain = replace(self.config, machine=MachineConfig(), method=replace(method, set=()))
        about = f"{plain.data} {changed(plain)} {sorted(settings.items())} {self.tuning!r}"
        mentor = shipped().get(f"{settings.get('mentor')}")
        if mentor is not None and parse_settings(method.set).get("mentor"):
            about += hashlib.sha256((mentor / WEIGHTS).read_bytes()).hexdigest()
        return hashlib.sha256(about.encode()).hexdigest()[:10]

    @property
    def key(self) -> str:
        """A file name that says what it is."""
        config = self.config
        noise = config.labels.noise or "as-given"
        words = (
            config.data, config.student.student or "student", noise.rpartition("/")[2],
            config.method.method or "method", f"{config.seed}",
        )  # fmt: skip
        name = "-".join(re.sub(r"[^\w.]+", "-", word) for word in words)
        return f"{name}-{self.digest}"


@dataclass(frozen=True)
class Cell:
    """One number of a table.

    Args:
        row: what the row is called, mostly a method.
        column: what the column is called.
        run: where the number comes from, at its first seed.
        reads: which number of the run.
        paper: what the paper has there, as a share, if it has anything.
        seeds: how many it takes, where that is not the table's number.
    """

    row: str
    column: str
    run: Run
    reads: Reads = "accuracy_last"
    paper: float | None = None
    seeds: int | None = None


@dataclass(frozen=True)
class Table:
    """A table: its cells, row by row.

    Args:
        name: what it is called on the command line.
        title: what it shows.
        cells: in the order they are shown, and run.
        note: what a reader has to know.
        seeds: how many of each cell, unless the cell says otherwise.
        about: what a row is, and what it knows, where its name does not say so.
    """

    name: str
    title: str
    cells: tuple[Cell, ...]
    note: str = ""
    seeds: int = 1
    about: Mapping[str, str] = field(default_factory=dict)

    def seeds_of(self, cell: Cell, asked: int | None = None) -> int:
        """How many seeds that cell takes."""
        return asked or cell.seeds or self.seeds

    def runs(self, asked: int | None = None) -> Iterator[Run]:
        """Every run once, all first seeds before all second ones."""
        seen = set()
        most = max((self.seeds_of(cell, asked) for cell in self.cells), default=0)
        for seed in range(most):
            for cell in self.cells:
                run = cell.run.with_seed(cell.run.config.seed + seed)
                if seed < self.seeds_of(cell, asked) and run.digest not in seen:
                    seen.add(run.digest)
                    yield run

    @property
    def rows(self) -> list[str]:
        """Their names in order."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """Their names in order."""
        return list(dict.fromkeys(cell.column for cell in self.cells))


def with_settings(config: TrainConfig, words: Iterable[str]) -> TrainConfig:
    """The config with settings more, of its method or, as `optimiser.NAME=VALUE`, of that.

    >>> tried = with_settings(TrainConfig("digits"), ("optimiser.epochs=20", "beta=0.9"))
    >>> tried.optimiser.epochs, tried.method.set
    (20, ('beta=0.9',))
    """
    ours, theirs = "optimiser.", tuple(words)
    about = tuple(word.removeprefix(ours) for word in theirs if word.startswith(ours))
    rest = tuple(word for word in theirs if not word.startswith(ours))
    changes: dict[str, Any] = {**parse_settings(about)}
    return replace(
        config,
        method=replace(config.method, set=config.method.set + rest),
        optimiser=replace(config.optimiser, **changes),
    )


def select(table: Table, only: Iterable[str]) -> Table:
    """The part of the table that words like `row=mentornet-*` and `column=0.4` ask for."""
    wanted = chooser(table.name, table.rows, table.columns, only)
    cells = tuple(cell for cell in table.cells if wanted(cell.row, cell.column))
    if not cells:
        raise MentorNetError(f"{table.name} has no cell with {' '.join(only)}")
    return replace(table, cells=cells)


def chooser(
    table: str, rows: Iterable[str], columns: Iterable[str], only: Iterable[str]
) -> Callable[[str, str], bool]:
    """Says of a row and a column whether the words of `--only` ask for that cell.

    Several words for rows add up, and so do several for columns; `*` stands for anything, but in a
    word that is a name as it is.

    >>> wanted = chooser("mine", ["a", "a*"], ["1", "2"], ["row=a*", "column=1"])
    >>> wanted("a", "1"), wanted("a*", "1"), wanted("a*", "2")
    (False, True, False)
    """
    known = {"row": list(rows), "column": list(columns)}
    asked: dict[str, set[str]] = {"row": set(), "column": set()}
    for word in only:
        kind, equals, pattern = word.partition("=")
        if kind not in asked or not equals:
            raise MentorNetError(f"--only takes row=… or column=…, got {word!r}")
        names = known[kind]
        found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not found:
            raise MentorNetError(f"{table} has no {kind} {pattern!r}; there are {', '.join(names)}")
        asked[kind] |= set(found)
    return lambda row, column: (
        (not asked["row"] or row in asked["row"])
        and (not asked["column"] or column in asked["column"])
    )
