"""How well a mentor carries over: it is learned without a dataset, and judged on that one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.universal.learn import CANDIDATES, READS, Moment, family, judged, learn

__all__ = ["carry_over", "left_out_means"]

_CLEAN, _FEW = 0.01, 100  # with fewer wrong labels, or samples, an AUROC says little


def carry_over(runs: Sequence[Sequence[Moment]]) -> list[dict[str, Any]]:
    """Return one row for each run that the method mentornet-early supervised.

    Args:
        runs: the moments of each run of the corpus.
    """
    rows = []
    for left_out in sorted({family(run[0].spec.data) for run in runs}):
        others = [one for run in runs if family(run[0].spec.data) != left_out for one in run]
        mentors = {"+".join(reads): learn(others, reads) for reads in CANDIDATES}
        for run in runs:
            spec, correct = run[0].spec, run[0].correct
            wrong = 1 - correct.double().mean().item()
            if family(spec.data) != left_out or spec.policy != "early":
                continue
            if not _CLEAN < wrong < 1 - _CLEAN or len(correct) < _FEW:
                continue
            found: dict[str, Any] = judged(run, mentors["+".join(READS)])
            found["learned"] = {
                name: judged(run, mentor)["universal"] for name, mentor in mentors.items()
            }
            about = {"run": spec.name, "data": spec.data, "kind": spec.kind, "count": len(correct)}
            rows.append(about | found)
    return rows


def left_out_means(rows: Sequence[dict[str, Any]], *names: str) -> list[list[str | float]]:
    """Return the dataset and the mean of these numbers over its runs, for each dataset; then all.

    >>> left_out_means([{"data": "a", "x": 1.0}, {"data": "b", "x": 2.0}], "x")
    [['a', 1.0], ['b', 2.0], ['all runs', 1.5]]
    """
    table: list[list[str | float]] = []
    for data in [*sorted({row["data"] for row in rows}), None]:
        part = [row for row in rows if data in (None, row["data"])]
        means = [sum(row[name] for row in part) / len(part) for name in names]
        table.append([data or "all runs", *means])
    return table
