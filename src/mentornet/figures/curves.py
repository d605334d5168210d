"""Curves of a run, and of several runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mentornet.figures.style import COLOURS, LINES, figure, look

__all__ = ["draw_comparison", "draw_run"]

Rows = Sequence[Mapping[str, Any]]


def draw_run(rows: Rows, summary: Mapping[str, Any]) -> Figure:
    """Accuracy of one run over its epochs, and beside it what became of the weights."""
    with look():
        drawn = figure(9.5, 3.6)
        left, right = drawn.subplots(1, 2)
        _lines(
            left, rows,
            {"test_accuracy": "test samples", "train_accuracy": "given labels of training samples"},
        )  # fmt: skip
        left.set(title="Accuracy", xlabel="epoch", ylim=(0, 1.02))
        _lines(
            right, rows,
            {
                "mean_weight": "mean v", "data_used": "share with v ≥ 0.5",
                "weight_auroc": "AUROC of v, right against wrong labels",
            },
        )  # fmt: skip
        right.set(title="Weights", xlabel="epoch", ylim=(0, 1.02))
        drawn.suptitle(
            f"{Path(summary['data']).name}, {summary['method']}: "
            f"last {summary['accuracy_last']:.1%}, best {summary['accuracy_best']:.1%}".replace(
                "$", r"\$"
            )
        )
    return drawn


def draw_comparison(runs: Mapping[str, Rows], title: str) -> Figure:
    """Test accuracy over the epochs, a line a run."""
    with look():
        drawn = figure(7, 4)
        axes = drawn.subplots()
        for place, (name, rows) in enumerate(runs.items()):
            axes.plot(
                *_points(rows, "test_accuracy"),
                label=f"{name}: {rows[-1]['test_accuracy']:.1%} at the end",
                color=COLOURS[place % len(COLOURS)], linestyle=LINES[place % len(LINES)],
            )  # fmt: skip
        axes.set(title=title, xlabel="epoch", ylabel="accuracy on clean test samples")
        axes.legend(loc="lower right")
    return drawn


def _lines(axes: Axes, rows: Rows, columns: Mapping[str, str]) -> None:
    for place, (column, label) in enumerate(columns.items()):
        if column in rows[-1]:
            points = _points(rows, column)
            axes.plot(*points, label=label, color=COLOURS[place], linestyle=LINES[place])
    axes.legend(loc="lower right")


def _points(rows: Rows, column: str) -> tuple[list[int], list[float]]:
    """The epochs of which it is known, and what it was."""
    known = [row for row in rows if column in row]
    return [row["epoch"] for row in known], [row[column] for row in known]
