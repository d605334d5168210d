"""How our figures look, and how they are saved."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from mentornet.files import write_bytes

__all__ = ["COLOURS", "LINES", "figure", "look", "save"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which people of any colour vision can tell apart."""

LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
"""A dash pattern for each colour, for print without any."""

_LOOK: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "mentornet",
}


def look() -> AbstractContextManager[None]:
    """Inside, what is drawn has our look; outside, matplotlib is as it was."""
    return mpl.rc_context(_LOOK)


def figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    made = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(made)
    return made


def save(drawn: Figure, path: Path) -> list[Path]:
    """Write `path`.png and `path`.svg, the same bytes for the same figure."""
    written = []
    with look():
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            drawn.savefig(buffer, format=kind, dpi=150, metadata=metadata)
            written.append(path.with_name(f"{path.name}.{kind}"))
            write_bytes(written[-1], buffer.getvalue())
    return written
