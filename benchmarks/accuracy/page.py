"""The page of results, from the stored JSON and nothing else."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from benchmarks.accuracy.claims import Claim, check_claims, wins_and_losses
from benchmarks.accuracy.findings import render_findings
from benchmarks.accuracy.tables import TABLES, benchmark
from mentornet.experiments.cells import Table
from mentornet.experiments.comparison import (
    Entries,
    compare,
    gap_closed,
    number,
    paper_number,
)
from mentornet.experiments.results import Results, format_of

__all__ = ["FINDINGS", "PICTURE", "markdown", "render_results"]

FINDINGS = "findings.md"
"""Beside the results: what we make of them, in words, with numbers that are looked up."""

PICTURE = "images/benchmark.png"
"""Beside the page: the table of all methods as `draw_benchmark` draws it."""

_HEAD = """# Results

Made by `make results` from the files in `results/benchmark`; every number of the tables comes from
them, with config, seed, commit and machine. `make benchmark` makes the runs, and goes on where it
was stopped; `python -m benchmarks.accuracy NAME --precision bf16` makes one table.

How to read it:

- Accuracy is on clean test images, in percent. **Last epoch first**, with the range over n seeds in
  brackets; then the best epoch of every fourth, which nobody without clean test labels could have
  picked. (Early stopping picks among all epochs, by noisy labels; what it picked stands under "last
  epoch".)
- Uniform noise replaces a label by any class, the true one included (the paper's definition), so
  of a fraction p only p (1 − 1/K) of the labels are wrong, as each heading says; symmetric noise,
  as others define it, would make it p.
- "gap closed" is (method − full-model) / (oracle − full-model), of the means over the seeds that
  all three have, or of the first seed that they have in any number format: a seed is other images
  and other wrong labels, too. The oracle knows which labels
  are right, and is the limit of what weights can do; but methods that are taught the right labels
  of verified samples know labels that it does not.
- Within a table, student, images and steps are the same, but for what a row is about: early
  stopping and trials of tuning go without a tenth of the images; co-teaching trains two students,
  cleanlab-prune five; MentorMix and mixup look at each batch twice.
- The student is `fast` at half its width (`--width 16`) in all tables.
- Minutes are of one thread, beside another run, without tuning. Rows of runs in float32 are
  marked †; the others were made with `--precision bf16`, which is faster. They were made on
  different machines, some of which stood still for a while; see the end.
- n is the number of seeds. Runs in float32 and in bf16 are never averaged: where a row has both, it
  shows those of which there are more, and says how many stand apart.
- Rows marked ‡ were made when results did not yet store every setting of their method. Their files
  say so (`"settings": null`): what was not given on the command line had the defaults of the commit
  that they name.
"""

_CLAIMS = (
    "PD and DD are the rows `mentornet-pd` and `mentornet-dd` of the table below: ours, not the "
    "paper's in every setting. DD's settings were chosen with the first seed, on test images. "
    "Claims are judged by the seeds that both sides have; narrowly is by less than half a point, "
    "which other seeds may turn round."
)
_STANDS = (
    "How far mentornet-dd leads all others on 10,000 images, last epochs, in points, over the "
    "seeds that both have; the oracle aside. Level is what differs by less than half a point. "
    "Where no n is given it is the first seed alone, with which DD's settings were chosen, and a "
    "point may be chance:"
)
_TRIALS = (
    "Tuned on a tenth of the images with the labels they were given (accuracy on those), in trials "
    "of so many epochs; in bold what was taken. Chance moves an accuracy on a thousand labels by a "
    "point or two, and where p of the labels are noise, each point is 1 / (1 − p) on clean ones: "
    "at a fraction of 0.8 it is five, and little more than chance decides."
)


def render_results(results: Results) -> str:
    """The page, in Markdown."""
    parts = [_HEAD]
    for make in TABLES.values():
        table = make()
        entries = compare(table, results)
        text = markdown(table, entries)
        if not text:
            continue
        parts.append(
            f"## {table.title}\n\n`python -m benchmarks.accuracy {table.name} --precision bf16`\n"
        )
        if table.note:
            parts.append(table.note + "\n")
        if table.about:
            parts.append(_about(table))
        if make is benchmark:
            parts.append(f"![Last and best epoch of every method, a panel a fraction]({PICTURE})\n")
        parts += filter(None, [_missing(table, entries), text, _tuned(table, results)])
    parts.insert(1, _claims(results))
    findings = results.folder / FINDINGS
    if findings.is_file():
        parts.append(render_findings(findings.read_text(encoding="utf-8"), results))
    parts.append(_conditions(results))
    return "\n".join(parts)


def _claims(results: Results) -> str:
    """What was to be shown, and where DD stands among all."""
    lines = [
        "## What was to be shown",
        "",
        _CLAIMS,
        "",
        "| claim | found | holds |",
        "|---|---|---|",
    ]
    lines += [
        f"| {claim.text} | {claim.found} | {_holds(claim)} |" for claim in check_claims(results)
    ]
    table = benchmark()
    entries = compare(table, results)
    stands = wins_and_losses(table, entries)
    if stands:
        lines += ["", _STANDS, "", stands]
    return "\n".join(lines) + "\n"


def _holds(claim: Claim) -> str:
    """Whether it does; and by how little, where so little may be chance."""
    told = {True: "yes", False: "**no**", None: "not run yet"}[claim.holds]
    if claim.margin is None or not claim.narrow:
        return told
    return f"{told}, narrowly (by {100 * abs(claim.margin):.2f} points)"


def _missing(table: Table, entries: Entries) -> str:
    """Which cells nobody has run yet, and which have fewer seeds than they are to have."""
    none: dict[str, list[str]] = defaultdict(list)
    few: dict[str, list[str]] = defaultdict(list)
    for (row, column), entry in entries.items():
        if not entry.values:
            none[row].append(column)
        elif len(entry.values) < table.seeds_of(entry.cell):
            few[row].append(column)
    said = []
    for what, rows in (("Not run yet", none), ("With fewer seeds so far than planned", few)):
        cells = ", ".join(f"{row} ({', '.join(columns)})" for row, columns in rows.items())
        said += [f"{what}: {cells}."] if cells else []
    return " ".join(said) + "\n" if said else ""


def _about(table: Table) -> str:
    """What the rows are."""
    lines = [f"| {row} | {table.about[row]} |" for row in table.rows if row in table.about]
    return "\n".join(["| row | what it is |", "|---|---|", *lines]) + "\n"


def markdown(table: Table, entries: Entries) -> str:
    """The table for a page: for each column last epoch, best epoch, minutes, n and gap closed."""
    has_paper = any(cell.paper is not None for cell in table.cells)
    has_gap = {"full-model", "oracle"} <= set(table.rows)
    parts = []
    for column in table.columns:
        heads = ["method", "last epoch", "best epoch", "minutes", "n"]
        heads += ["paper"] if has_paper else []
        heads += ["gap closed"] if has_gap else []
        lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
        for row in table.rows:
            entry = entries.get((row, column))
            if entry is None or not entry.values:
                continue
            cells = [
                row, number(entry), f"{100 * statistics.fmean(entry.best):.1f}",
                f"{statistics.fmean(entry.minutes):.1f}{' †' * entry.full_precision}",
                f"{len(entry.values)}{' ‡' * (not entry.says_settings)}"
                + (f" (and {len(entry.others)} apart)" if entry.others else ""),
            ]  # fmt: skip
            cells += [paper_number(entry.cell)] if has_paper else []
            if has_gap:
                gap = gap_closed(entries, row, column)
                cells.append("" if gap is None else f"{100 * gap:.0f} %")
            lines.append(f"| {' | '.join(cells)} |")
        if len(lines) > 2:
            parts.append(f"### {column}{_wrong(entries, column)}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _wrong(entries: Entries, column: str) -> str:
    """The share of wrong labels in a column, for its heading."""
    rates = [rate for (_, name), entry in entries.items() if name == column for rate in entry.wrong]
    return f": {100 * statistics.fmean(rates):.1f} % of the labels are wrong" if rates else ""


def _tuned(table: Table, results: Results) -> str:
    """What was tried, and in bold what was taken."""
    lines = []
    for cell in table.cells:
        found = results.find(cell.run) if cell.run.tuning is not None else None
        if found is None:
            continue
        best = max(found["tried"], key=lambda trial: float(trial["validation_accuracy"]))
        tried = []
        for trial in found["tried"]:
            text = f"{' '.join(trial['set'])} {100 * trial['validation_accuracy']:.1f}"
            tried.append(f"**{text}**" if trial is best else text)
        minutes = sum(trial["seconds"] for trial in found["tried"]) / 60
        assert cell.run.tuning is not None
        cells = [
            cell.row, cell.column, ", ".join(tried), f"{cell.run.tuning.epochs or 'all'}",
            f"{minutes:.1f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    if not lines:
        return ""
    heads = "| method | noise | tried | epochs | minutes |\n|---|---|---|---|---|\n"
    return f"{_TRIALS}\n\n{heads}" + "\n".join(lines) + "\n"


_FORMATS = {"32": "float32", "bf16": "bf16"}


def _conditions(results: Results) -> str:
    """Where and with what the runs were made; one that went on elsewhere names both."""
    made: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for found in results.every():
        under = [found["conditions"], *found.get("went_on_under", ())]
        where = ", then ".join(dict.fromkeys(map(_machine, under)))
        code = ", then ".join(dict.fromkeys(str(about["commit"]) for about in under))
        made[where, _FORMATS[format_of(found)]][code] += 1
    lines = ["## Conditions", "", "| machine and versions | format | runs | of them at commit |"]
    lines.append("|---|---|---|---|")
    for (where, precision), commits in sorted(made.items()):
        each = "; ".join(f"{count} at {name}" for name, count in sorted(commits.items()))
        lines.append(f"| {where} | {precision} | {commits.total()} | {each} |")
    return "\n".join(lines) + "\n"


def _machine(about: Mapping[str, Any]) -> str:
    return (
        f"{about['processor']}, {about['cores']} cores, mentornet {about['mentornet']}, "
        f"torch {about['torch']}, Python {about['python']}"
    )
