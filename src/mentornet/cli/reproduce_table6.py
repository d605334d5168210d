"""Table 6 as it fills in: the MSE of five architectures on six curricula."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from mentornet.cli.reproduce_cells import filling_in
from mentornet.errors import MentorNetError
from mentornet.experiments.cells import Scale
from mentornet.experiments.statistics import estimate
from mentornet.experiments.table6 import (
    NAMES,
    PAPER,
    WEIGHTINGS,
    Cell,
    Progress,
    Table6,
    cells,
    run_table6,
)
from mentornet.files import read_json, write_json, write_text
from mentornet.mentors import ARCHITECTURES

__all__ = ["SMALL", "list_table6", "plan_table6", "reproduce_table6"]

SMALL = Table6(repeats=2, samples=30_000, steps=500)


def reproduce_table6(
    out: Path, scale: Scale, *, seeds: int | None, jobs: int, only: Sequence[str] = ()
) -> list[Path]:
    """Run what is missing, show the table as it fills in, and say what was written.

    Args:
        out: folder for the table, the figures and the single runs.
        scale: paper, or small.
        seeds: repeats of each cell, in place of the scale's own.
        jobs: runs side by side, a thread each.
        only: which cells; the table and its figures are written where it is all of them.
    """
    from mentornet.experiments.table6_page import render_page
    from mentornet.figures.style import save
    from mentornet.figures.table6 import draw_architectures, draw_objectives

    table = _table(scale, seeds)
    if len(cells(only)) == len(cells()):
        _check_out(out, table)
    console, started = Console(highlight=False), time.monotonic()
    with filling_in(console) as live:
        result = run_table6(
            table,
            out / "runs",
            only=only,
            processes=jobs,
            on_progress=lambda progress: live.update(_view(progress, started)),
        )
    if len(result["cells"]) < len(cells()):
        return [out / "runs"]
    write_json(out / "table6.json", result)
    write_text(out / "README.md", render_page(result))
    written = [out / "table6.json", out / "README.md"]
    written += save(draw_architectures(result), out / "architectures")
    written += save(draw_objectives(result), out / "objectives")
    return written


def list_table6(out: Path, scale: Scale, seeds: int | None, only: Sequence[str] = ()) -> None:
    """Every cell with the paper's number, and how many of its fits are done."""
    table = _table(scale, seeds)
    view = Table(title="Table 6", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("row", "column", "objective", "paper", "fits done"):
        view.add_column(head, no_wrap=True)
    for cell in cells(only):
        paper = f"{PAPER[cell.row][cell.arch]}" if cell.objective == "implicit" else ""
        done, total = table.fits(cell, out / "runs")
        view.add_row(cell.row, cell.arch, cell.objective, paper, f"{done} of {total}")
    Console(highlight=False).print(view)


def plan_table6(
    out: Path, scale: Scale, seeds: int | None, jobs: int, only: Sequence[str] = ()
) -> None:
    """How many fits are missing, and about how long they take here, from short ones made now."""
    table, console = _table(scale, seeds), Console(highlight=False)
    cells(only)  # says so at once if there is no such cell
    fits, total = 0, 0.0
    with console.status("timing a short fit of each network"):
        for arch in ARCHITECTURES:
            missing = 0
            for cell in cells(only):
                done, wanted = table.fits(cell, out / "runs")
                missing += (wanted - done) * (cell.arch == arch)
            fits += missing
            if missing:
                total += missing * table.seconds(arch) / 60
    hours = f"{total:.0f} min" if total < 90 else f"{total / 60:.1f} h"
    console.print(
        f"{fits} fits, about {hours} one after the other, on {jobs} cores 1/{jobs} of it",
        markup=False,
    )


def _table(scale: Scale, seeds: int | None) -> Table6:
    table = Table6() if scale == "paper" else SMALL
    return replace(table, repeats=seeds or table.repeats)


def _check_out(out: Path, table: Table6) -> None:
    """An earlier table of other settings is not replaced, nor somebody else's README."""
    path = out / "table6.json"
    if not path.exists():
        if (out / "README.md").exists():
            raise MentorNetError(
                f"{out} has a README.md already, which the table's would replace; choose another "
                "--out"
            )
    else:
        earlier = read_json(path)
        for name, value in asdict(table).items():
            if earlier.get(name) != value:
                raise MentorNetError(
                    f"{out} holds a table with {name} = {earlier.get(name)}, not "
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
