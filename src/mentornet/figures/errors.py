"""Training and test error over the steps (Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from mentornet.figures.style import COLOURS, LINES, figure, look

__all__ = ["draw_errors"]


def draw_errors(curves: Mapping[str, Mapping[str, Sequence[Any]]], title: str) -> Figure:
    """On the left the error on clean test images, on the right that on the given labels.

    On the right the paper has Σ vᵢ ℓᵢ for MentorNet, which approaches zero. Here it is the error of
    every method, so that they compare: who refuses wrong labels stays above who learns them.

    Args:
        curves: by method; `step`, `test_accuracy` and `train_accuracy`, an epoch each, None where
            nobody looked.
        title: what was trained on what.
    """
    with look():
        drawn = figure(10, 4)
        axes = drawn.subplots(1, 2)
        for place, (name, curve) in enumerate(curves.items()):
            for panel, key in zip(axes, ("test_accuracy", "train_accuracy"), strict=True):
                points = [
                    (step, 1 - value)
                    for step, value in zip(curve["step"], curve[key], strict=True)
                    if value is not None
                ]
                panel.plot(
                    *zip(*points, strict=True), label=name,
                    color=COLOURS[place % len(COLOURS)], linestyle=LINES[place % len(LINES)],
                )  # fmt: skip
        axes[0].set(title="Test error, clean labels", xlabel="step", ylim=(0, 1))
        axes[1].set(title="Training error, given labels", xlabel="step", ylim=(0, 1))
        axes[0].legend(loc="upper right", fontsize=8)
        drawn.suptitle(title)
    return drawn
