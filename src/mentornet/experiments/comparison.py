"""Results laid out as their table: mean and spread over the seeds, beside the paper's numbers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mentornet.experiments.cells import Cell, Table
from mentornet.experiments.results import Results, format_of
from mentornet.experiments.statistics import Estimate, estimate
from mentornet.files import as_json

__all__ = [
    "Entries",
    "Entry",
    "common_seeds",
    "compare",
    "count",
    "gap_closed",
    "number",
    "paper_number",
    "read_cell",
]


@dataclass(frozen=True)
class Entry:
    """What is known of a cell; everything is empty if none of its jobs has a result.

    Attributes:
        cell: the cell.
        values: the number that the cell reads, one for each seed.
        seeds: the seeds of the values, counted from 0.
        best: the accuracies of the best epochs of training runs.
        minutes: how long each job took.
        wrong: the share of wrong labels in each run, where that is known.
        full_precision: whether the jobs were made in float32, not in bf16.
        says_settings: whether the results say with which settings of the method they were made.
        others: the numbers, by seed, of results in another number format or with other settings;
            they are never averaged with the values.
    """

    cell: Cell
    values: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    best: tuple[float, ...] = ()
    minutes: tuple[float, ...] = ()
    wrong: tuple[float, ...] = ()
    full_precision: bool = False
    says_settings: bool = True
    others: Mapping[int, float] = field(default_factory=dict)

    @property
    def mean(self) -> float | None:
        """The mean over the seeds; None if there are none."""
        return statistics.fmean(self.values) if self.values else None

    def mean_over(self, seeds: Sequence[int]) -> float | None:
        """The mean over some of the seeds; None if there are none."""
        found = {**self.others, **dict(zip(self.seeds, self.values, strict=True))}
        values = [found[seed] for seed in seeds]
        return statistics.fmean(values) if values else None


Entries = Mapping[tuple[str, str], Entry]


def compare(table: Table, results: Results, seeds: int | None = None) -> Entries:
    """Look up the results of every cell of a table; by row and column.

    Args:
        table: the table to show.
        results: where to look.
        seeds: how many seeds of each cell to look for, in place of the table's own number.
    """
    found = {}
    for cell in table.cells:
        jobs = [
            cell.run.with_seed(cell.run.seed + seed)
            for seed in range(max(table.seeds_of(cell, seeds), 1))
        ]
        groups: dict[str, dict[int, Mapping[str, Any]]] = {}
        for seed, job in enumerate(jobs):
            for result in results.of_any_format(job):
                groups.setdefault(_made_with(result), {})[seed] = result
        found[cell.row, cell.column] = _entry(cell, list(groups.values()))
    return found


def _made_with(result: Mapping[str, Any]) -> str:
    """What results must share to be averaged: number format and settings of the method."""
    return as_json({"format": format_of(result), "settings": result.get("settings")})


def _entry(cell: Cell, groups: Sequence[Mapping[int, Mapping[str, Any]]]) -> Entry:
    """What is known of a cell, from the results that most seeds share, or else the first seed."""
    if not groups:
        return Entry(cell)
    asked = cell.run.precision
    kept = max(
        groups,
        key=lambda group: (_format(group) == asked, len(group), -min(group)),
    )
    made = list(kept.values())
    return Entry(
        cell,
        tuple(read_cell(cell, result) for result in made),
        tuple(kept),
        tuple(result["run"]["accuracy_best"] for result in made if result["kind"] == "training"),
        tuple(float(result["run"]["seconds"]) / 60 for result in made),
        tuple(rate for result in made if (rate := result["run"].get("noise_rate_actual"))),
        _format(kept) == "32",
        made[0]["kind"] != "training" or made[0].get("settings") is not None,
        {
            seed: read_cell(cell, result)
            for group in groups
            if group is not kept
            for seed, result in group.items()
        },
    )


def _format(group: Mapping[int, Mapping[str, Any]]) -> str:
    return format_of(next(iter(group.values())))


def read_cell(cell: Cell, result: Mapping[str, Any]) -> float:
    """The number of a result that the cell shows."""
    if cell.reads == "train_accuracy":
        return float(result["train_accuracy"])
    return float(result["run"][cell.reads])


def common_seeds(*entries: Entry) -> tuple[int, ...]:
    """The seeds that all entries have. A seed also draws the images and the wrong labels.

    If they share none of the seeds that are averaged, it is the first one that they all have in any
    number format.
    """
    shared = set.intersection(*(set(entry.seeds) for entry in entries))
    if shared:
        return tuple(sorted(shared))
    every = set.intersection(*({*entry.seeds, *entry.others} for entry in entries))
    return tuple(sorted(every)[:1])


def gap_closed(entries: Entries, row: str, column: str) -> float | None:
    """(m − FullModel) / (oracle − FullModel) of the last epochs; 1 is as good as an oracle.

    Each is the mean over the seeds that all three have. None if one of them has no result, or if
    the oracle is not better than FullModel.
    """
    found = [entries.get((name, column)) for name in (row, "full-model", "oracle")]
    known = [entry for entry in found if entry is not None]
    if len(known) < len(found):
        return None
    mine, plain, limit = (entry.mean_over(common_seeds(*known)) for entry in known)
    if mine is None or plain is None or limit is None or limit <= plain:
        return None
    return (mine - plain) / (limit - plain)


def number(entry: Entry) -> str:
    """The cell as text.

    Accuracies are in percent, with their range over several seeds; errors have their confidence
    interval; parameters are in millions.
    """
    if entry.mean is None:
        return ""
    if entry.cell.reads == "mse":
        return f"{estimate(entry.values)}"
    if entry.cell.reads == "parameters":
        return f"{entry.mean / 1e6:.2f}M"
    shown = f"{100 * entry.mean:.1f}"
    if len(entry.values) > 1:
        shown += f" ({100 * min(entry.values):.1f}–{100 * max(entry.values):.1f})"
    return shown


def count(entry: Entry) -> str:
    """The number of seeds, for a number that is the mean of several."""
    return f"n={len(entry.values)}" if len(entry.values) > 1 else ""


def paper_number(cell: Cell) -> str:
    """The paper's number as text; empty if it has none."""
    if cell.paper is None:
        return ""
    if isinstance(cell.paper, Estimate):
        return f"{cell.paper}"
    return f"{cell.paper / 1e6:.1f}M" if cell.reads == "parameters" else f"{100 * cell.paper:.3g}"
