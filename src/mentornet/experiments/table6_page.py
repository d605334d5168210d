"""App. D's table as a page, from the stored results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mentornet.experiments.cells import Table
from mentornet.experiments.comparison import Entries, compare, number
from mentornet.experiments.fits import FitSettings
from mentornet.experiments.results import Results
from mentornet.experiments.statistics import Estimate, estimate
from mentornet.experiments.table6 import (
    EXPLICIT,
    EXPLICIT_COLUMN,
    LEARNING_RATES,
    NAMES,
    PAPER,
    WEIGHTINGS,
    table6,
)
from mentornet.mentors import ARCHITECTURES

__all__ = ["render_bilstm", "render_page"]


def render_page(table: Table, results: Results, seeds: int) -> str:
    """All cells, ours and the paper's, with the conditions they were measured under.

    Args:
        table: Table 6 at either scale.
        results: which must have every cell.
        seeds: how many of each.
    """
    entries = compare(table, results, seeds)
    first = results.find(table.cells[0].run)
    assert first is not None
    facts, config = first["conditions"], table.cells[0].run.config
    rates = ", ".join(f"{rate:g}" for rate in LEARNING_RATES)
    return f"""# App. D: how well a mentor learns a predefined curriculum

Mean squared error to v* over {config.samples:,} enumerated samples; mean of {seeds}
repeats ± 90 % confidence, ours first and the paper's below. The best of a row is bold.

{_grid(entries)}

{_explicit(entries)}

![Error of the five architectures over the epochs](architectures.png)

![Explicit against implicit training](objectives.png)

- Command: `{_command(config, seeds)}` (step size T = {config.history}, {config.steps:,} steps
  of Adam with a one-cycle learning rate, one thread a fit).
- The paper names no learning rate: each cell has the best of {rates} on its first repeat. What
  each gave is in the JSON files; where the best is the first or last, a further one may be better.
- Settings of the curricula: {_settings(table)}.
- mentornet {facts["mentornet"]} at {facts["commit"]}, torch {facts["torch"]},
  Python {facts["python"]}, {facts["processor"]}, {facts["cores"]} cores.
- Not in the paper, and chosen by us: the earlier losses of a sample (see
  `mentornet.mentors.grid`), the curricula's settings, and the sizes of the four networks that
  MentorNet is compared with (the RNN reads each batch of 256 samples as one sequence).
"""


def render_bilstm(entries: Entries) -> str:
    """Only the MentorNet's column, for the README."""
    lines = ["| curriculum | ours | paper |", "|---|---|---|"]
    lines += [
        f"| {row} | {number(entries[row, 'bilstm'])} | {PAPER[row]['bilstm']} |"
        for row in WEIGHTINGS
    ]
    return "\n".join(lines)


def _grid(entries: Entries) -> str:
    lines = [f"| weighting | {' | '.join(NAMES[arch] for arch in ARCHITECTURES)} |"]
    lines.append("|---|" + "---|" * len(ARCHITECTURES))
    for row in WEIGHTINGS:
        ours = {arch: _ours(entries, row, arch) for arch in ARCHITECTURES}
        best = min(ours, key=lambda arch: ours[arch].mean)
        shown = [f"**{ours[arch]}**" if arch == best else f"{ours[arch]}" for arch in ARCHITECTURES]
        cells = [f"{text}<br>{PAPER[row][arch]}" for text, arch in zip(shown, ours, strict=True)]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _command(config: FitSettings, seeds: int) -> str:
    table = table6("paper")
    scale = "paper" if config.samples == table.cells[0].run.config.samples else "small"
    words = ["mentornet", "reproduce", "table6", "--scale", scale]
    if scale == "paper" and seeds != table.seeds:
        words += ["--seeds", f"{seeds}"]
    return " ".join(words)


def _settings(table: Table) -> str:
    every: dict[str, Mapping[str, Any]] = {}
    for cell in table.cells:
        every.setdefault(cell.row, cell.run.config.full()["curriculum_settings"])
    texts = {row: ", ".join(f"{k} = {v}" for k, v in every[row].items()) for row in every}
    return "; ".join(f"{row} ({text})" for row, text in texts.items())


def _explicit(entries: Entries) -> str:
    lines = ["Explicit training (Eq. 4) of the bi-LSTM, beside implicit:", ""]
    lines += ["| weighting | explicit | implicit |", "|---|---|---|"]
    for row in EXPLICIT:
        explicit, implicit = (_ours(entries, row, name) for name in (EXPLICIT_COLUMN, "bilstm"))
        lines.append(f"| {row} | {explicit} | {implicit} |")
    return "\n".join(lines)


def _ours(entries: Entries, row: str, column: str) -> Estimate:
    return estimate(entries[row, column].values)
