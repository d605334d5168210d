"""Every shipped mentor does what its card says."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from mentornet import CURRICULA, Mentor, MentorFeatures, enumerate_features
from mentornet.mentors import Lesson, error_of, read_card, shipped


def test_every_predefined_curriculum_ships() -> None:
    assert set(shipped()) == set(CURRICULA)


@pytest.mark.parametrize("name", sorted(CURRICULA))
def test_card(name: str) -> None:
    folder = shipped()[name]
    card, mentor = read_card(folder), Mentor.from_pretrained(name)
    features = enumerate_features(
        card.samples,
        history=mentor.config.history,
        num_classes=mentor.config.num_classes,
        seed=card.grid_seed,
    )
    mse = error_of(mentor, Lesson(features, card.target()(features)))
    assert mse == pytest.approx(card.mse, rel=0.02, abs=1e-9)
    assert f"{card.mse:.1e}" in (folder / "README.md").read_text()
    assert f"--curriculum {name}" in card.command


@pytest.mark.parametrize("name", sorted(CURRICULA))
def test_no_path_of_a_machine(name: str) -> None:
    for file in shipped()[name].iterdir():
        if file.suffix in {".md", ".json"}:
            assert str(Path.home()) not in file.read_text()


@pytest.mark.parametrize("name", ["self-paced", "pd", "linear"])
def test_beyond_the_grid_a_huge_loss_still_counts_nothing(name: str) -> None:
    far = MentorFeatures.from_loss(torch.tensor([0.01, 40.0, 200.0]), percentile=1.0)
    weight = Mentor.from_pretrained(name).weigh(far)
    assert weight[0] > 0.99
    assert weight[1:].max() < 0.01


@pytest.mark.parametrize("name", sorted(CURRICULA))
def test_any_label_will_do(name: str) -> None:
    """They read no label, so they serve any number of classes."""
    mentor = Mentor.from_pretrained(name)
    loss = torch.full((3, mentor.config.history), 1.0)
    weight = mentor.weigh(MentorFeatures.from_loss(loss, label=torch.tensor([0, 7, 999])))
    assert weight.unique().numel() == 1
    assert math.isfinite(weight[0].item())
