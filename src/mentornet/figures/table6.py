"""App. D's two figures: error over epochs, and explicit against implicit training."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mentornet.experiments.table6 import EXPLICIT, NAMES
from mentornet.figures.style import COLOURS, LINES, figure, look
from mentornet.mentors import ARCHITECTURES

__all__ = ["draw_architectures", "draw_objectives"]


def draw_architectures(
    table: dict[str, Any], rows: tuple[str, ...] = ("hard-negative-mining", "temporal-mixture")
) -> Figure:
    """Mean error of the five architectures over the epochs, a panel a weighting."""
    with look():
        drawn = figure(9, 3.8)
        for axes, row in zip(drawn.subplots(1, len(rows)), rows, strict=True):
            for index, arch in enumerate(ARCHITECTURES):
                _plot(axes, table, (row, arch, "implicit"), NAMES[arch], index)
            _finish(axes, row)
        _legend(drawn)
    return drawn


def draw_objectives(table: dict[str, Any]) -> Figure:
    """Mean error of the bi-LSTM under the two ways of training, a panel a weighting."""
    with look():
        drawn = figure(9, 3.8)
        for axes, row in zip(drawn.subplots(1, len(EXPLICIT)), EXPLICIT, strict=True):
            for index, objective in enumerate(("explicit", "implicit")):
                _plot(axes, table, (row, "bilstm", objective), objective, index)
            _finish(axes, row)
        _legend(drawn)
    return drawn


def _plot(
    axes: Axes, table: dict[str, Any], wanted: tuple[str, str, str], name: str, index: int
) -> None:
    for cell in table["cells"]:
        if (cell["row"], cell["arch"], cell["objective"]) == wanted:
            curve = cell["curve"]
            axes.plot(
                curve["epoch"], curve["mse"], label=name, color=COLOURS[index],
                linestyle=LINES[index],
            )  # fmt: skip


def _finish(axes: Axes, row: str) -> None:
    axes.set(title=row, xlabel="epoch", ylabel="mean squared error", yscale="log")


def _legend(drawn: Figure) -> None:
    """One for all panels, below them."""
    handles, names = drawn.axes[0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside lower center", ncols=len(names))
