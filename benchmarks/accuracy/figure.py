"""The benchmark as a picture: every method's last and best epoch, a panel a noise fraction."""

from __future__ import annotations

import statistics

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mentornet.experiments.cells import Table
from mentornet.experiments.comparison import Entries, Entry
from mentornet.figures.style import COLOURS, figure, look

__all__ = ["draw_benchmark"]

_LIMITS = {"full-model": COLOURS[0], "oracle": COLOURS[2]}
_OURS = ("mentornet", "mentor-bootstrap")


def draw_benchmark(table: Table, entries: Entries) -> Figure:
    """Methods from top to bottom as in the table; a dot is the last epoch, a ring the best.

    Lines across a panel are plain training and the oracle; a bar through a dot is the range over
    the seeds. What has not been run is left out.

    Args:
        table: the table to draw.
        entries: the results of its cells.
    """
    ran = {row for (row, _), entry in entries.items() if entry.values}
    rows = [row for row in table.rows if row in ran]
    with look():
        drawn = figure(3.4 * len(table.columns), 1.4 + 0.24 * len(rows))
        axes = drawn.subplots(1, len(table.columns), sharey=True, squeeze=False)[0]
        for panel, column in zip(axes, table.columns, strict=True):
            for name, colour in _LIMITS.items():
                limit = entries[name, column].mean
                if limit is not None:
                    panel.axvline(100 * limit, color=colour, linewidth=1, zorder=0)
            for place, row in enumerate(rows):
                if (row, column) in entries:
                    _draw_row(panel, place, entries[row, column])
            panel.set(title=f"noise fraction {column}", xlabel="test accuracy, %")
        axes[0].set_yticks(range(len(rows)), rows, fontsize=8)
        axes[0].invert_yaxis()
        drawn.suptitle(f"{table.title}: last epoch (dot) and best (ring)")
    return drawn


def _draw_row(panel: Axes, place: int, entry: Entry) -> None:
    if entry.mean is None:
        return
    row = entry.cell.row
    ours = COLOURS[1] if row.startswith(_OURS) else "0.35"
    colour = _LIMITS.get(row, ours)
    percent = [100 * value for value in entry.values]
    panel.plot([min(percent), max(percent)], [place, place], color=colour, linewidth=2)
    panel.plot(100 * entry.mean, place, "o", color=colour, markersize=5)
    best = 100 * statistics.fmean(entry.best)
    panel.plot(best, place, "o", color=colour, markersize=7, fillstyle="none")
