"""What the benchmark set out to show, and whether it does: from the stored results only."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from benchmarks.accuracy.tables import benchmark, human, transfer
from mentornet.experiments.cells import Table
from mentornet.experiments.comparison import (
    Entries,
    Entry,
    common_seeds,
    compare,
    gap_closed,
    number,
)
from mentornet.experiments.paper_runs import NOISES, ROWS
from mentornet.experiments.results import Results

__all__ = ["Claim", "check_claims", "wins_and_losses"]

_DD, _PD, _PLAIN = "mentornet-dd", "mentornet-pd", "full-model"
_PAPERS = tuple(name for name in ROWS if name not in (_DD, "mentornet-auto", "oracle"))
_GAP, _TRANSFERRED = 0.6, 0.03
_LEVEL = 0.005
"""Below this difference two methods are called level."""


@dataclass(frozen=True)
class Claim:
    """One claim, and what came of it.

    Attributes:
        text: the claim in words.
        found: the numbers, in percent, with their range; empty if the runs are not there yet.
        holds: whether it does; None if nobody knows yet.
        margin: by how much it holds, or fails if negative; None for a claim that has no margin.
    """

    text: str
    found: str = ""
    holds: bool | None = None
    margin: float | None = None

    @property
    def narrow(self) -> bool:
        """Whether it hangs on less than half a point."""
        return self.margin is not None and abs(self.margin) < _LEVEL


def check_claims(results: Results) -> list[Claim]:
    """Every claim, last epochs if it says nothing else."""
    found = [*_of_benchmark(compare(benchmark(), results))]
    moved = compare(transfer(), results)
    claim = "a mentor from CIFAR-10 on CIFAR-100 at 0.4: full-model + 3 ≤ DD"
    plain, ours = moved[_PLAIN, "0.4"], moved[_DD, "0.4"]
    if ours.mean is None or plain.mean is None:
        found.append(Claim(claim))
    else:
        margin = ours.mean - plain.mean - _TRANSFERRED
        found.append(_by_margin(claim, f"{number(plain)}, {number(ours)}", margin))
    people = compare(human(), results)
    for column in human().columns:
        claim = f"labels by people, {column}: full-model's best epoch ≤ DD's last"
        plain, ours = people[_PLAIN, column], people[_DD, column]
        if ours.mean is None or not plain.best:
            found.append(Claim(claim))
        else:
            best = statistics.fmean(plain.best)
            found.append(_by_margin(claim, f"{100 * best:.1f}, {number(ours)}", ours.mean - best))
    return found


def _of_benchmark(entries: Entries) -> Iterator[Claim]:
    plain_pd_dd = (_PLAIN, _PD, _DD)
    yield _order("at 0.4: full-model < PD < DD", entries, "0.4", plain_pd_dd)
    papers = (_PLAIN, f"{_PD} paper", f"{_DD} paper")
    yield _order("the same with PD and DD as in the paper", entries, "0.4", papers)
    later = _without_first_seed(entries)
    for noise in NOISES:
        claim = f"at {noise}: PD < DD, without the first seed"
        yield _order(claim, later, noise, (_PD, _DD))
    for noise in NOISES:
        claim = f"at {noise}: DD is the best of the paper's methods"
        ours = entries[_DD, noise]
        leads = {row: _lead(ours, entries[row, noise]) for row in _PAPERS}
        known = {row: lead for row, lead in leads.items() if lead is not None}
        if len(known) < len(leads):
            yield Claim(claim)
            continue
        name = min(known, key=lambda row: known[row])
        found = f"{name} {number(entries[name, noise])}, DD {number(ours)}"
        yield _by_margin(claim, found, known[name])
    for noise in NOISES:
        claim = f"at {noise}: DD closes at least 60 % of the gap to the oracle"
        gap = gap_closed(entries, _DD, noise)
        yield Claim(claim) if gap is None else Claim(claim, f"{100 * gap:.0f} %", gap >= _GAP)


def _without_first_seed(entries: Entries) -> Entries:
    """Of the seeds with which nothing was chosen."""
    kept = {}
    for key, entry in entries.items():
        pairs = [pair for pair in zip(entry.seeds, entry.values, strict=True) if pair[0]]
        seeds, values = zip(*pairs, strict=True) if pairs else ((), ())
        kept[key] = replace(entry, seeds=seeds, values=values)
    return kept


def _lead(ours: Entry, theirs: Entry) -> float | None:
    """By how much our last epochs are better than theirs, over the seeds that both have."""
    seeds = common_seeds(ours, theirs)
    mine, other = ours.mean_over(seeds), theirs.mean_over(seeds)
    return None if mine is None or other is None else mine - other


def _order(claim: str, entries: Entries, column: str, rows: tuple[str, ...]) -> Claim:
    """Whether the last epochs of these rows rise, each over the seeds that it shares."""
    each = [entries[row, column] for row in rows]
    steps = [_lead(higher, lower) for lower, higher in pairwise(each)]
    known = [step for step in steps if step is not None]
    if len(known) < len(steps):
        return Claim(claim)
    return _by_margin(claim, ", ".join(map(number, each)), min(known))


def _by_margin(claim: str, found: str, margin: float) -> Claim:
    return Claim(claim, found, margin > 0, margin)


def wins_and_losses(table: Table, entries: Entries, row: str = _DD) -> str:
    """Which other methods `row` beats and which beat it, a line a column.

    Leads are of last epochs, in points, over the seeds that both have.
    """
    lines = []
    for column in table.columns:
        ours = entries[row, column]
        sides: dict[str, list[str]] = {"ahead of": [], "level with": [], "behind": []}
        for name in table.rows:
            entry = entries.get((name, column))
            lead = None if name in (row, "oracle") or entry is None else _lead(ours, entry)
            if entry is None or lead is None:
                continue
            side = "level with" if abs(lead) < _LEVEL else "ahead of" if lead > 0 else "behind"
            seeds = len(common_seeds(ours, entry))
            about = [_signed(100 * lead), *([f"n={seeds}"] if seeds > 1 else [])]
            sides[side].append(f"{name} ({', '.join(about)})")
        said = "; ".join(f"{side} {', '.join(names)}" for side, names in sides.items() if names)
        if said:
            lines.append(f"- {column}: {said}.")
    return "\n".join(lines)


def _signed(points: float) -> str:
    """With a sign that is as wide as a plus."""
    return f"{points:+.1f}".replace("-", "−")
