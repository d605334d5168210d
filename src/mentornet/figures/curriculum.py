"""The weight as a surface, and the robust loss that it implies (Fig. 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.axes3d import Axes3D
from torch import Tensor

from mentornet.curricula import Huber, LogSum, SelfPaced, implied_loss
from mentornet.features import MentorFeatures
from mentornet.figures.style import COLOURS, LINES, figure, look

__all__ = ["Weigh", "draw_curriculum", "draw_objective", "draw_surfaces"]

Weigh = Callable[[MentorFeatures], Tensor]

_LOSS = torch.linspace(0, 6, 121)
_DIFFERENCE = torch.linspace(-3, 3, 121)
_SAME = 0.02  # implied losses closer than this are drawn as one line


@dataclass(frozen=True)
class _View:
    """Where in the feature space the pictures are taken."""

    history: int
    loss_level: float

    def features(self, loss: Tensor, difference: Tensor, progress: int) -> MentorFeatures:
        """Features with `loss` and `difference` now, and the loss level of the view before."""
        steps = torch.full((len(loss), self.history), self.loss_level)
        steps[:, -1] = loss
        differences = steps - (loss - difference)[:, None]
        differences[:, -1] = difference  # exactly: a step may lie there
        label = torch.zeros(len(loss), dtype=torch.long)
        return MentorFeatures(steps, differences, label, torch.full_like(label, progress))

    def along_loss(self, progress: int) -> MentorFeatures:
        """Features whose loss runs through the range of the picture, at the loss level."""
        return self.features(_LOSS, _LOSS - self.loss_level, progress)


@torch.no_grad()
def draw_curriculum(
    weigh: Weigh,
    title: str,
    *,
    moments: Sequence[int] = (0, 50, 99),
    history: int = 1,
    loss_level: float = 2.0,
) -> Figure:
    """Draw v over loss and difference at each of `moments`, and ρ(ℓ) beside the classical ones.

    Args:
        weigh: a curriculum's `weight` or a mentor.
        title: what it is.
        moments: at which progress of training, in percent.
        history: T; earlier steps are drawn at the loss level.
        loss_level: ℓ_pt that ρ is drawn at.
    """
    view = _View(history, loss_level)
    surfaces = _alike([(progress, _surface(weigh, view, progress)) for progress in moments])
    panels = len(surfaces) + 1
    with look():
        drawn = figure(3.5 * panels + 0.5, 3.9)
        drawn.suptitle(title)
        for place, (weight, alike) in enumerate(surfaces, start=1):
            axes = drawn.add_subplot(1, panels, place, projection="3d")
            assert isinstance(axes, Axes3D)
            _draw_surface(axes, weight, _when(alike))
        _draw_implied_loss(drawn.add_subplot(1, panels, panels), weigh, view, moments)
    return drawn


@torch.no_grad()
def draw_objective(
    mentor: Weigh, name: str, *, loss_level: float = 2.0, progress: int = 75
) -> Figure:
    """Draw the objective over the sample loss: classical robust losses and a mentor (Fig. 2).

    G of a learned mentor is not known. So the paper draws the weighted loss |g_m ℓ| of the mentor,
    and ρ(ℓ) = ∫ v of the others.

    Args:
        mentor: a learned one.
        name: what it is called.
        loss_level: ℓ_pt.
        progress: of training, in percent.
    """
    view = _View(1, loss_level)
    features = view.along_loss(progress)
    with look():
        drawn = figure(6.0, 4.2)
        axes = drawn.subplots()
        for place, (label, robust) in enumerate(
            (
                ("no curriculum", _LOSS),
                ("self-paced (λ = 2)", SelfPaced(2.0, relative=False).implied_loss(features)),
                ("Huber (λ = 1)", Huber().implied_loss(features)),
                ("log-sum (λ = ε = 1)", LogSum().implied_loss(features)),
                (f"learned: {name}, |g ℓ|", (mentor(features) * _LOSS).abs()),
            )
        ):
            axes.plot(
                _LOSS, robust, label=label, color=COLOURS[(6, 1, 4, 2, 0)[place]],
                linestyle=LINES[(3, 4, 2, 1, 0)[place]], linewidth=2.6 if place == 4 else 1.6,
            )  # fmt: skip
        axes.set(xlabel="sample loss ℓ", xlim=(0, 6), ylim=(0, 6))
        axes.set_ylabel(r"objective: $\rho(\ell) = \int_0^\ell v\,dx$, or $|g\,\ell|$")
        axes.set_title(rf"Sample loss and objective, $\ell_{{pt}}$ = {loss_level:g}")
        axes.legend(loc="upper left")
    return drawn


@torch.no_grad()
def draw_surfaces(mentors: Sequence[tuple[str, int, int, Weigh]], title: str) -> Figure:
    """The weight over loss and loss difference, a panel a mentor (Fig. 4).

    Args:
        mentors: of each a title, the progress in percent that it is shown at, T, and itself.
        title: above all.
    """
    with look():
        drawn = figure(4.2 * len(mentors), 4.0)
        drawn.suptitle(title)
        for place, (name, progress, history, weigh) in enumerate(mentors, start=1):
            axes = drawn.add_subplot(1, len(mentors), place, projection="3d")
            assert isinstance(axes, Axes3D)
            _draw_surface(axes, _surface(weigh, _View(history, 2.0), progress), name)
    return drawn


def _surface(weigh: Weigh, view: _View, progress: int) -> Tensor:
    """The weight over losses (rows) and differences (columns)."""
    loss, difference = torch.meshgrid(_LOSS, _DIFFERENCE, indexing="ij")
    return weigh(view.features(loss.flatten(), difference.flatten(), progress)).view_as(loss)


def _draw_surface(axes: Axes3D, weight: Tensor, title: str) -> None:
    loss, difference = torch.meshgrid(_LOSS, _DIFFERENCE, indexing="ij")
    axes.plot_surface(
        loss.numpy(), difference.numpy(), weight.numpy(), cmap="viridis", vmin=0, vmax=1,
        rcount=121, ccount=121, linewidth=0, antialiased=False, rasterized=True,
    )  # fmt: skip
    axes.set(title=title, xlabel="loss ℓ", zlabel="weight v", zlim=(0, 1))
    axes.set_ylabel(r"difference $\ell - \ell_{pt}$")
    axes.view_init(elev=28, azim=35)
    axes.set_box_aspect(None, zoom=0.84)


def _draw_implied_loss(axes: Axes, weigh: Weigh, view: _View, moments: Sequence[int]) -> None:
    features = view.along_loss(moments[0])
    for name, robust, colour, line in (
        ("cross-entropy", _LOSS, COLOURS[6], LINES[3]),
        ("Huber (λ = 1)", Huber().implied_loss(features), COLOURS[4], LINES[2]),
        ("log-sum (λ = ε = 1)", LogSum().implied_loss(features), COLOURS[2], LINES[1]),
    ):
        axes.plot(_LOSS, robust, label=name, color=colour, linestyle=line, linewidth=1.4)
    curves = [(progress, implied_loss(weigh, view.along_loss(progress))) for progress in moments]
    groups = _alike(curves)
    for index, (curve, alike) in enumerate(groups):
        when = "" if len(groups) == 1 else f", {_when(alike)}"
        colour = (COLOURS[0], COLOURS[1], COLOURS[3], COLOURS[5])[index % 4]
        axes.plot(_LOSS, curve, label=f"this weighting{when}", color=colour, linewidth=2.4)
    axes.set(xlabel="loss ℓ", xlim=(0, 6), ylim=(0, 6))
    axes.set_ylabel(r"$\rho(\ell) = \int_0^\ell v\,dx$")
    axes.set_title(rf"implied loss at $\ell_{{pt}}$ = {view.loss_level:g}")
    axes.legend(loc="upper left", fontsize=8)


def _alike(drawn: list[tuple[int, Tensor]]) -> list[tuple[Tensor, list[int]]]:
    """Merge what looks the same at several moments; return each with its moments."""
    groups: list[tuple[Tensor, list[int]]] = []
    for progress, values in drawn:
        for other, alike in groups:
            if (values - other).abs().max() < _SAME:
                alike.append(progress)
                break
        else:
            groups.append((values, [progress]))
    return groups


def _when(moments: list[int]) -> str:
    return f"progress {', '.join(map(str, moments))} %"
