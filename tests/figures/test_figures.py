from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
import torch
from mpl_toolkits.mplot3d.axes3d import Axes3D
from torch import Tensor

from mentornet import CURRICULA, Mentor, make_curriculum
from mentornet.features import MentorFeatures
from mentornet.figures.curriculum import draw_curriculum, draw_objective
from mentornet.figures.errors import draw_errors
from mentornet.figures.style import save
from mentornet.figures.table6 import draw_fits


@pytest.mark.parametrize("name", CURRICULA)
def test_a_surface_for_each_moment_and_the_implied_loss(name: str) -> None:
    curriculum = make_curriculum(name)
    drawn = draw_curriculum(curriculum.weight, name, moments=(0, 20, 99), history=10)
    *surfaces, implied = drawn.axes
    assert all(isinstance(axes, Axes3D) for axes in surfaces)
    changes = name == "temporal-mixture"
    titles = ["progress 0, 20 %", "progress 99 %"] if changes else ["progress 0, 20, 99 %"]
    assert [axes.get_title() for axes in surfaces] == titles
    labels = [str(line.get_label()) for line in implied.get_lines()]
    assert [label.split(" ")[0] for label in labels[:3]] == ["cross-entropy", "Huber", "log-sum"]
    assert len(labels) == 3 + len(titles)


def test_errors_are_drawn_where_somebody_looked() -> None:
    curve: dict[str, list[float | None]] = {
        "step": [10, 20, 30], "test_accuracy": [None, 0.5, 0.75], "train_accuracy": [0.1, 0.2, 0.4],
        "weighted_loss": [2.0, 0.5, 0.25],
    }  # fmt: skip
    old = {name: curve[name] for name in ("step", "test_accuracy", "train_accuracy")}
    panels = draw_errors({"PD": curve, "stored long ago": old}, "digits").axes
    points = [np.asarray(axes.get_lines()[0].get_xydata()) for axes in panels]
    assert points[0].tolist() == [[20, 0.5], [30, 0.25]]
    assert points[1].tolist() == [[10, 2.0], [20, 0.5], [30, 0.25]]  # Σ v ℓ as it is, Fig. 3 (b)
    assert points[2] == pytest.approx(np.array([[10, 0.9], [20, 0.8], [30, 0.6]]))
    assert [len(axes.get_lines()) for axes in panels] == [2, 1, 2]


def test_fig_2_has_the_weighted_loss_of_the_mentor() -> None:
    """|g ℓ| at ℓ_pt = 2, not ∫ g, for a mentor that halves every loss above the level."""

    def mentor(features: MentorFeatures) -> Tensor:
        return torch.where(features.current_difference > 0, 0.5, 1.0)

    (axes,) = draw_objective(mentor, "halves", loss_level=2.0).axes
    lines = {str(line.get_label()): np.asarray(line.get_xydata()) for line in axes.get_lines()}
    learned = lines["learned: halves, |g ℓ|"]
    expected = [loss if loss <= 2 else loss / 2 for loss in learned[:, 0]]
    assert learned[:, 1] == pytest.approx(expected)
    at_six = {name.split(" (")[0]: points[-1, 1] for name, points in lines.items()}
    assert at_six["no curriculum"] == 6
    assert at_six["self-paced"] == pytest.approx(2, abs=0.05)  # ∫ v, as before


def test_a_mentor_can_be_drawn() -> None:
    drawn = draw_curriculum(Mentor.from_pretrained("pd"), "pd")
    line = drawn.axes[-1].get_lines()[3]
    last = np.asarray(line.get_ydata())[-1]
    assert last == pytest.approx(2.5, abs=0.05)  # ℓ_pt + λ₂/2 at ℓ_pt = 2


def test_saved_as_png_and_svg_the_same_bytes_each_time(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    first = save(draw_curriculum(make_curriculum("pd").weight, "pd"), tmp_path / "a")
    again = save(draw_curriculum(make_curriculum("pd").weight, "pd"), tmp_path / "b")
    assert [path.name for path in first] == ["a.png", "a.svg"]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first[1]).getroot().tag.endswith("svg")
    assert dict(mpl.rcParams) == before
    assert first[1].stat().st_size < 500_000  # the surface is a picture inside it


def test_app_d_figures_show_every_curve() -> None:
    curve = {"epoch": [1.0, 2.0], "mse": [0.1, 0.01]}
    panels = {"linear": {"a": curve, "b": curve}, "focal": {"a": curve, "b": curve}}
    drawn = draw_fits(panels)
    assert [axes.get_title() for axes in drawn.axes] == list(panels)
    for axes in drawn.axes:
        assert [line.get_label() for line in axes.get_lines()] == ["a", "b"]
        assert axes.get_yscale() == "log"
