"""The table as a picture: accuracy above, and what the audit finds below; a column for each set."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.real_noise.results import Case, Entry
from benchmarks.real_noise.rows import ROWS
from mentornet.figures.style import COLOURS, figure, look

__all__ = ["draw"]

_OURS = ("ours", "verdicts")
_LEAST = 12.0  # points of accuracy
_LIMITS = {"plain": COLOURS[0], "oracle": COLOURS[2]}


def draw(table: Mapping[Case, Mapping[str, Entry]]) -> Figure:
    """Draw a dot for the mean over seeds, and a bar for the range; what was not run is left out.

    Args:
        table: what was found, by data and student, and then by row.
    """
    with look():
        drawn = figure(1.2 + 2.1 * len(table), 5.6)
        panels = drawn.subplots(2, len(table), sharey=True, squeeze=False)
        for (case, entries), upper, lower in zip(table.items(), *panels, strict=True):
            for name, colour in _LIMITS.items():
                if name in entries:
                    upper.axvline(100 * entries[name].accuracy, color=colour, linewidth=1, zorder=0)
            for place, row in enumerate(ROWS):
                if row in entries:
                    _dot(upper, place, row, [100 * one for one in entries[row].accuracies])
                    _dot(lower, place, row, entries[row].precisions)
            upper.set_title(f"{case.data}\n{case.student}", fontsize=9)
            upper.set_xlabel("test accuracy, %", fontsize=8)
            lower.set_xlabel("average precision", fontsize=8)
            for panel, least in ((upper, _LEAST), (lower, _LEAST / 100)):
                panel.tick_params(labelsize=8)
                _widen(panel, least)
        panels[0, 0].set_yticks(range(len(ROWS)), [*ROWS.values()])
        panels[0, 0].set_ylim(len(ROWS) - 0.5, -0.5)
    return drawn


def _widen(panel: Axes, least: float) -> None:
    """Show at least so much of an axis, so that small differences look small."""
    low, high = panel.get_xlim()
    more = max(0.0, least - (high - low)) / 2
    panel.set_xlim(low - more, high + more)


def _dot(panel: Axes, place: int, row: str, values: list[float]) -> None:
    if not values:
        return
    colour = _LIMITS.get(row, COLOURS[1] if row in _OURS else "0.35")
    panel.plot([min(values), max(values)], [place, place], color=colour, linewidth=2)
    panel.plot(sum(values) / len(values), place, "o", color=colour, markersize=5)
