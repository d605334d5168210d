"""The weight as a surface, and the robust loss that it implies (Fig. 2 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import matplotlib as mpl
import torch
from matplotlib.figure import Figure
from torch import Tensor

from mentornet.curricula import Huber, LogSum, implied_loss
from mentornet.experiments.style import _LOOK, COLOURS, LINES, figure
from mentornet.features import MentorFeatures

__all__ = ["draw_curriculum"]

Weigh = Callable[[MentorFeatures], Tensor]

_LOSS = torch.linspace(0, 6, 121)
_DIFFERENCE = torch.linspace(-3, 3, 121)


def draw_curriculum(
    weigh: Weigh,
    title: str,
    *,
    epochs: Sequence[int] = (0, 50, 99),
    history: int = 1,
    percentile: float = 2.0,
) -> Figure:
    """v over loss and difference at each of `epochs`, and ρ(ℓ) beside the classical ones.

    Args:
        weigh: a curriculum's `weight` or a mentor.
        title: what it is.
        epochs: progress in percent.
        history: T; earlier steps are drawn at the percentile.
        percentile: ℓ_pt that ρ is drawn at.
    """
    panels = len(epochs) + 1
    with mpl.rc_context(_LOOK):
        drawn = figure(3.4 * panels + 0.8, 3.9)
        drawn.suptitle(title)
        for place, epoch in enumerate(epochs, start=1):
            _draw_surface(drawn, (1, panels, place), weigh, epoch, history, percentile)
        _draw_implied_loss(drawn, (1, panels, panels), weigh, epochs, history, percentile)
    return drawn


def _draw_surface(
    drawn: Figure,
    place: tuple[int, int, int],
    weigh: Weigh,
    epoch: int,
    history: int,
    percentile: float,
) -> None:
    loss, difference = torch.meshgrid(_LOSS, _DIFFERENCE, indexing="ij")
    features = _features(
        loss.flatten(), loss.flatten() - difference.flatten(), epoch, history, percentile
    )
    with torch.no_grad():
        weight = weigh(features).view_as(loss)
    axes = drawn.add_subplot(*place, projection="3d")
    axes.plot_surface(  # type: ignore[attr-defined]
        loss.numpy(), difference.numpy(), weight.numpy(), cmap="viridis", vmin=0, vmax=1,
        rcount=61, ccount=61, linewidth=0, antialiased=True,
    )  # fmt: skip
    axes.set(
        title=f"epoch {epoch} %", xlabel="loss ℓ", ylabel="difference ℓ − ℓ_pt",
        zlabel="weight v", zlim=(0, 1),
    )  # fmt: skip
    axes.view_init(elev=28, azim=35)  # type: ignore[attr-defined]


def _draw_implied_loss(
    drawn: Figure,
    place: tuple[int, int, int],
    weigh: Weigh,
    epochs: Sequence[int],
    history: int,
    percentile: float,
) -> None:
    axes = drawn.add_subplot(*place)
    features = _features(_LOSS, torch.full_like(_LOSS, percentile), epochs[0], history, percentile)
    for name, robust, colour, line in (
        ("cross-entropy", _LOSS, COLOURS[6], LINES[3]),
        ("Huber (λ = 1)", Huber().implied_loss(features), COLOURS[4], LINES[2]),
        ("log-sum (λ = ε = 1)", LogSum().implied_loss(features), COLOURS[2], LINES[1]),
    ):
        axes.plot(_LOSS, robust, label=name, color=colour, linestyle=line, linewidth=1.4)
    curves: dict[int, Tensor] = {}
    for epoch in epochs:
        at = _features(_LOSS, torch.full_like(_LOSS, percentile), epoch, history, percentile)
        with torch.no_grad():
            curves[epoch] = implied_loss(weigh, at)
    same = all(torch.allclose(curve, curves[epochs[0]], atol=0.02) for curve in curves.values())
    for epoch, colour in zip(epochs[:1] if same else epochs, (0, 1, 3, 5), strict=False):
        name = "this curriculum" if same else f"this one, epoch {epoch} %"
        axes.plot(_LOSS, curves[epoch], label=name, color=COLOURS[colour], linewidth=2.4)
    axes.set(
        title=f"implied loss at ℓ_pt = {percentile:g}", xlabel="loss ℓ",
        ylabel="ρ(ℓ) = ∫ v", xlim=(0, 6), ylim=(0, 6),
    )  # fmt: skip
    axes.legend(loc="upper left", fontsize=8)


def _features(
    loss: Tensor, level: Tensor, epoch: int, history: int, percentile: float
) -> MentorFeatures:
    before = torch.full((len(loss), history - 1), percentile)
    steps = torch.cat([before, loss[:, None]], dim=1)
    return MentorFeatures.from_loss(steps, percentile=level, epoch=epoch)
