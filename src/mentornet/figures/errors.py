"""Training and test error over the steps (Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from mentornet.figures.style import COLOURS, LINES, figure, look

__all__ = ["draw_errors"]


_PANELS = (
    ("test_accuracy", "Test error, clean labels"),
    ("weighted_loss", r"$(1/B)\,\Sigma\,v_i\,\ell_i$ of the mini-batches, given labels"),
    ("train_accuracy", "Training error, all given labels (not in the paper)"),
)


def draw_errors(curves: Mapping[str, Mapping[str, Sequence[Any]]], title: str) -> Figure:
    """The error on clean test images, Σ vᵢ ℓᵢ of the mini-batches, and the error on given labels.

    The first two are the paper's (a) and (b); methods that do not weight samples have v = 1, so
    their (b) is the plain loss. Σ vᵢ ℓᵢ is divided by B and averaged over an epoch. In the third
    panel methods compare: one that leaves out wrong labels stays above one that learns them.

    Args:
        curves: by method; `step`, `test_accuracy`, `weighted_loss` and `train_accuracy`, one value
            per epoch, None where it was not measured. A result of an earlier version has no
            `weighted_loss`, so it has no line in that panel.
        title: what was trained on what.
    """
    with look():
        drawn = figure(14, 4)
        for panel, (key, name) in zip(drawn.subplots(1, 3), _PANELS, strict=True):
            panel.set(title=name, xlabel="step")
            for place, (method, curve) in enumerate(curves.items()):
                points = _points(curve, key)
                if points:
                    panel.plot(
                        *zip(*points, strict=True), label=method,
                        color=COLOURS[place % len(COLOURS)], linestyle=LINES[place % len(LINES)],
                    )  # fmt: skip
            panel.set_ylim(0, None if key == "weighted_loss" else 1)
        drawn.axes[0].legend(loc="upper right", fontsize=8)
        drawn.suptitle(title)
    return drawn


def _points(curve: Mapping[str, Sequence[Any]], key: str) -> list[tuple[float, float]]:
    """Return the steps at which it was measured, with the error or the weighted loss."""
    return [
        (step, value if key == "weighted_loss" else 1 - value)
        for step, value in zip(curve["step"], curve.get(key, ()), strict=False)
        if value is not None
    ]
