"""App. D's two figures: error over epochs, and explicit against implicit training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from mentornet.figures.style import COLOURS, LINES, figure, look

__all__ = ["draw_fits"]


def draw_fits(panels: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> Figure:
    """Mean squared error over the epochs, a panel for each curriculum.

    Args:
        panels: by curriculum, and in it by the name of a line: its `epoch` and `mse`.
    """
    with look():
        drawn = figure(9, 3.8)
        for axes, (row, curves) in zip(drawn.subplots(1, len(panels)), panels.items(), strict=True):
            for place, (name, curve) in enumerate(curves.items()):
                axes.plot(
                    curve["epoch"], curve["mse"], label=name, color=COLOURS[place],
                    linestyle=LINES[place],
                )  # fmt: skip
            axes.set(title=row, xlabel="epoch", ylabel="mean squared error", yscale="log")
        handles, names = drawn.axes[0].get_legend_handles_labels()
        drawn.legend(handles, names, loc="outside lower center", ncols=len(names))
    return drawn
