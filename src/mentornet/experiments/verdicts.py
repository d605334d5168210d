"""What the benchmark set out to show, and whether it does: from the stored results only."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from mentornet.experiments.benchmark import benchmark, human, transfer
from mentornet.experiments.cells import Table
from mentornet.experiments.comparison import Entries, compare, count, gap_closed
from mentornet.experiments.paper_tables import NOISES, ROWS
from mentornet.experiments.results import Results

__all__ = ["Verdict", "verdicts", "wins_and_losses"]

_DD, _PD, _PLAIN = "mentornet-dd", "mentornet-pd", "full-model"
_PAPERS = tuple(name for name in ROWS if name not in (_DD, "mentornet-auto", "oracle"))
_GAP, _TRANSFERRED = 0.6, 0.03


@dataclass(frozen=True)
class Verdict:
    """One claim, and what came of it.

    Attributes:
        claim: in words.
        found: the numbers, in percent; empty if the runs are not there yet.
        holds: whether it does; None if nobody knows yet.
    """

    claim: str
    found: str = ""
    holds: bool | None = None


def verdicts(results: Results) -> list[Verdict]:
    """Every claim, last epochs if it says nothing else."""
    found = [*_of_benchmark(compare(benchmark("small"), results))]
    moved = compare(transfer("small"), results)
    found.append(
        _difference("a mentor from CIFAR-10 on CIFAR-100 at 0.4: DD ≥ full-model + 3",
                    moved, "0.4", _TRANSFERRED)
    )  # fmt: skip
    people = compare(human("small"), results)
    for column in human("small").columns:
        claim = f"labels by people, {column}: DD's last epoch ≥ full-model's best"
        ours, plain = people[_DD, column].mean, people[_PLAIN, column].best
        if ours is None or not plain:
            found.append(Verdict(claim))
        else:
            best = statistics.fmean(plain)
            found.append(Verdict(claim, f"{100 * ours:.1f}, {100 * best:.1f}", ours >= best))
    return found


def _of_benchmark(entries: Entries) -> Iterator[Verdict]:
    yield _order("at 0.4: full-model < PD < DD", entries, "0.4")
    yield _order("the same with PD and DD as in the paper", entries, "0.4", " paper")
    for noise in NOISES:
        claim = f"at {noise}: DD is the best of the paper's methods"
        others = {row: entries[row, noise].mean for row in _PAPERS}
        ours = entries[_DD, noise].mean
        rivals = [mean for mean in others.values() if mean is not None]
        if ours is None or len(rivals) < len(others):
            yield Verdict(claim)
            continue
        best = max(rivals)
        name = next(row for row, mean in others.items() if mean == best)
        yield Verdict(claim, f"{100 * ours:.1f}, {name} {100 * best:.1f}", ours > best)
    for noise in NOISES:
        claim = f"at {noise}: DD closes at least 60 % of the gap to the oracle"
        gap = gap_closed(entries, _DD, noise)
        yield Verdict(claim) if gap is None else Verdict(claim, f"{100 * gap:.0f} %", gap >= _GAP)


def _order(claim: str, entries: Entries, column: str, variant: str = "") -> Verdict:
    means = [entries[row, column].mean for row in (_PLAIN, f"{_PD}{variant}", f"{_DD}{variant}")]
    known = [mean for mean in means if mean is not None]
    if len(known) < len(means):
        return Verdict(claim)
    found = ", ".join(f"{100 * mean:.1f}" for mean in known)
    return Verdict(claim, found, known[0] < known[1] < known[2])


def _difference(claim: str, entries: Entries, column: str, least: float) -> Verdict:
    ours, plain = entries[_DD, column].mean, entries[_PLAIN, column].mean
    if ours is None or plain is None:
        return Verdict(claim)
    return Verdict(claim, f"{100 * ours:.1f}, {100 * plain:.1f}", ours - plain >= least)


def wins_and_losses(table: Table, entries: Entries, row: str = _DD) -> str:
    """Which other methods `row` beats and which beat it, last epochs, a line a column."""
    lines = []
    for column in table.columns:
        ours = entries[row, column].mean
        if ours is None:
            continue
        sides: dict[bool, list[str]] = {True: [], False: []}
        for name in table.rows:
            entry = entries.get((name, column))
            if name in (row, "oracle") or entry is None:
                continue
            if entry.mean is not None:
                about = [f"{100 * (entry.mean - ours):+.1f}", count(entry)]
                sides[entry.mean < ours].append(f"{name} ({', '.join(filter(None, about))})")
        above, below = (", ".join(sides[beaten]) or "none" for beaten in (True, False))
        seeds = count(entries[row, column])
        lines.append(f"- {column}{seeds and f' ({seeds})'}: above {above}; below {below}.")
    return "\n".join(lines)
