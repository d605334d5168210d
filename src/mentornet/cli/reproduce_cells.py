"""A table of jobs as it fills in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as Shown
from rich.text import Text

from mentornet.errors import MentorNetError
from mentornet.experiments.cells import Cell, Scale, Table
from mentornet.experiments.comparison import (
    Entries,
    compare,
    count,
    gap_closed,
    number,
    paper_number,
)
from mentornet.experiments.engines import Outcome, run_locally, run_on_ray
from mentornet.experiments.jobs import Job
from mentornet.experiments.results import FAILURE, Results
from mentornet.files import write_text

__all__ = ["Engine", "list_cells", "reproduce_cells", "show_plan", "shown"]


@dataclass(frozen=True)
class Engine:
    """What makes the jobs."""

    name: Literal["local", "ray"] = "local"
    jobs: int = 2
    address: str | None = None

    def make(self, jobs: Sequence[Job], folder: Path) -> Iterator[Outcome]:
        """Make every job, and yield the outcomes as they come."""
        if self.name == "ray":
            return run_on_ray(jobs, folder, address=self.address, processes=self.jobs)
        return run_locally(jobs, folder, processes=self.jobs)


@dataclass
class Board:
    """What is shown while jobs are made."""

    table: Table
    results: Results
    seeds: int | None
    entries: Entries
    failed: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    total: int = 0

    def __rich__(self) -> RenderableType:
        minutes = (time.monotonic() - self.started) / 60
        status = f"{self.done} of {self.total} runs, {minutes:.1f} min"
        if self.failed:
            status += f", {len(self.failed)} failed"
        return Group(shown(self.table, self.entries, self._state), Text(status, style="dim"))

    def _state(self, cell: Cell) -> str:
        """What a cell without a number shows: its epoch, if its run has begun."""
        if cell.run.digest in self.failed:
            return "failed"
        metrics = self.results.working(cell.run) / "run" / "metrics.jsonl"
        try:
            lines = metrics.read_text(encoding="utf-8").splitlines()
            return f"epoch {json.loads(lines[-1])['epoch']}" if lines else "…"
        except (OSError, ValueError, KeyError):
            return "…"


def reproduce_cells(table: Table, out: Path, seeds: int | None, engine: Engine) -> list[Path]:
    """Make the jobs that are missing; raise in the end if any of them failed.

    Args:
        table: the table to fill in.
        out: the folder of results and runs.
        seeds: how many of each cell, in place of the table's own number.
        engine: what makes them.
    """
    results = Results(out)
    results.check()
    runs = list(table.runs(seeds))
    missing = [run for run in runs if results.find(run) is None]
    board = Board(table, results, seeds, compare(table, results, seeds))
    board.total, board.done = len(runs), len(runs) - len(missing)
    console = Console(highlight=False)
    with _filling_in(console, board) as live:
        for outcome in engine.make(missing, out):
            board.done += outcome.error is None
            if outcome.error is not None:
                board.failed[outcome.run.digest] = outcome.error
                with suppress(OSError):  # a full disk may be why
                    write_text(results.failure(outcome.run), f"{outcome.error}\n")
                first = outcome.error.splitlines()[0]
                live.console.print(Text(f"failed: {outcome.run.key}: {first}", style="red"))
            else:
                assert outcome.result is not None
                with suppress(OSError):
                    results.failure(outcome.run).unlink()
                line = f"{outcome.run.key}: {_result_line(outcome.result)}"
                live.console.print(line, markup=False)
            board.entries = compare(table, results, seeds)
    if table.note:
        console.print(Text(table.note, style="dim"))
    if board.failed:
        reasons = sorted({error.splitlines()[0] for error in board.failed.values()})
        raise MentorNetError(
            f"{len(board.failed)} of {len(runs)} runs failed ({out}/runs/*/{FAILURE} says more): "
            f"{'; '.join(reasons)}"
        )
    return [results.path(run) for run in missing]


def _result_line(result: Mapping[str, Any]) -> str:
    """The main numbers of a result, for a line on the screen."""
    run, minutes = result["run"], f"{result['run']['seconds'] / 60:.1f} min"
    if result["kind"] == "fit":
        return f"error {run['mse']:.1e}, {minutes}"
    return f"last {run['accuracy_last']:.1%}, best {run['accuracy_best']:.1%}, {minutes}"


@contextmanager
def _filling_in(console: Console, view: RenderableType) -> Iterator[Live]:
    """A live table that ends its last line, in a file as well as in a terminal."""
    try:
        with Live(view, console=console, refresh_per_second=1) as live:
            yield live
    finally:
        if not console.is_terminal:
            console.print()


def shown(table: Table, entries: Entries, state: Callable[[Cell], str] = lambda _: "…") -> Shown:
    """The table for a terminal: our numbers, the paper's below them, and the gap closed.

    Args:
        table: the table to show.
        entries: its results.
        state: returns what a cell shows that has no number yet.
    """
    view = Shown(title=table.title, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    view.add_column("", no_wrap=True)
    for column in table.columns:
        view.add_column(column, justify="right", overflow="fold")
    for row in table.rows:
        parts = []
        for column in table.columns:
            entry = entries.get((row, column))
            if entry is None:
                parts.append("")
                continue
            text = f"{number(entry)} {count(entry)}".strip() or state(entry.cell)
            gap = gap_closed(entries, row, column)
            if gap is not None and row not in ("full-model", "oracle"):
                text += f" [dim]{100 * gap:.0f} %[/dim]"
            if entry.cell.paper is not None:
                text += f"\n[dim]{paper_number(entry.cell)}[/dim]"
            parts.append(text)
        view.add_row(row, *parts)
    return view


def list_cells(table: Table, out: Path, seeds: int | None) -> None:
    """Print every cell with the paper's number, and how many of its runs are done."""
    results = Results(out)
    view = Shown(title=table.title, box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("row", "column", "paper", "done", "run"):
        view.add_column(head, no_wrap=head != "run", overflow="fold")
    for cell in table.cells:
        count = table.seeds_of(cell, seeds)
        jobs = (cell.run.with_seed(cell.run.seed + seed) for seed in range(count))
        done = f"{sum(results.find(job) is not None for job in jobs)} of {count}"
        view.add_row(cell.row, cell.column, paper_number(cell), done, cell.run.key)
    Console(highlight=False).print(view)


def show_plan(
    table: Table, out: Path, seeds: int | None, engine: Engine, scale: Scale = "small"
) -> None:
    """Print what would run, and about how long it would take.

    At small scale that is on this machine, from steps that are timed now. Runs at paper scale are
    for GPUs, so their time follows from the operations of the student.
    """
    from mentornet.experiments.duration import GPU_RATE, Clock, counted_step

    console, results = Console(highlight=False), Results(out)
    missing = [run for run in table.runs(seeds) if results.find(run) is None]
    if not missing:
        console.print("nothing is missing", markup=False)
        return
    on_gpu = scale == "paper" and any(run.kind == "training" for run in missing)
    clock, total = Clock(counted_step if on_gpu else None), 0.0
    view = Shown(
        title=f"{len(missing)} run{'s' * (len(missing) > 1)}", box=box.SIMPLE_HEAD, pad_edge=False
    )
    view.add_column("run", overflow="fold")
    view.add_column("tuned over", justify="right")
    view.add_column("GPU time" if on_gpu else "about", justify="right", no_wrap=True)
    with console.status("looking at each") as status:
        tuned: set[str] = set()
        for run in missing:
            status.update(f"looking at {run.key}")
            first = run.with_seed(0).digest
            tuning = None if first in tuned or results.tried(run) else run.tuning
            tuned.add(first)
            minutes = clock.minutes([run if tuning else run.untuned()])
            total += minutes
            took = _hours(minutes) if on_gpu else _duration(minutes)
            view.add_row(run.key, f"{len(tuning.candidates)}" if tuning else "", took)
    console.print(view)
    if on_gpu:
        console.print(
            f"about {_hours(total)} of one GPU, if it makes {GPU_RATE / 1e12:.0f} · 10¹² additions "
            "and multiplications a second; only those of the student are counted",
            markup=False,
        )
        return
    jobs = min(engine.jobs, len(missing))
    beside = f", {_duration(total / jobs)} with --jobs {jobs} if there is a core for each"
    console.print(
        f"about {_duration(total)} one after the other{beside * (jobs > 1)}; timed on one thread",
        markup=False,
    )


def _duration(minutes: float) -> str:
    if minutes < 90:
        return f"{max(1, round(minutes))} min"
    hours = minutes / 60
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.0f} days"


def _hours(minutes: float) -> str:
    return f"{minutes / 60:,.0f} h" if minutes > 570 else f"{minutes / 60:.1f} h"
