"""Every shipped mentor does what its card says."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet import CURRICULA, Mentor, MentorFeatures
from mentornet.config import read_config
from mentornet.mentors import FEATURES, Card, LearnedCard, Lesson, error_of, read_card, shipped
from mentornet.randomness import generator

LEARNED = ("dd-cifar10-20", "dd-cifar10-40", "dd-cifar10-80")


def test_every_predefined_curriculum_ships() -> None:
    assert set(shipped()) == {*CURRICULA, *LEARNED}


def card_of(name: str) -> Card:
    card = read_card(shipped()[name])
    assert isinstance(card, Card)
    return card


@pytest.mark.parametrize("name", sorted(CURRICULA))
def test_card(name: str) -> None:
    folder = shipped()[name]
    card, mentor = card_of(name), Mentor.from_pretrained(name)
    assert card.features == "dense"
    for features, mse in (("dense", card.mse), ("grid", card.mse_grid)):
        made = FEATURES[features](
            card.samples,
            history=mentor.config.history,
            num_classes=mentor.config.num_classes,
            seed=card.features_seed,
        )
        assert error_of(mentor, Lesson(made, card.target()(made))) == pytest.approx(mse, rel=0.02)
        assert f"{mse:.1e}" in (folder / "README.md").read_text()
    assert f"--curriculum {name}" in card.command


@pytest.mark.parametrize("name", sorted(CURRICULA))
@pytest.mark.parametrize(("mean", "top"), [(0.05, 2e-2), (0.3, 1e-2), (2.0, 5e-3), (8.0, 5e-3)])
def test_close_to_its_curriculum_wherever_a_student_is(name: str, mean: float, top: float) -> None:
    """Exponential losses around their own 75th percentile, as a batch has them: no grid."""
    mentor, draw = Mentor.from_pretrained(name), generator(7)
    shape = (20_000, mentor.config.history)
    loss = -mean * torch.rand(shape, generator=draw).clamp(min=1e-6).log()
    features = MentorFeatures.from_loss(
        loss,
        loss_level=torch.quantile(loss[:, -1], 0.75),
        progress=torch.randint(100, shape[:1], generator=draw),
    )
    assert error_of(mentor, Lesson(features, card_of(name).target()(features))) < top


@pytest.mark.parametrize("name", LEARNED)
def test_learned_mentors_say_where_from_and_beat_the_predefined_one(name: str) -> None:
    card = read_card(shipped()[name])
    assert isinstance(card, LearnedCard)
    assert card.data == "cifar10"
    assert card.noise == f"uniform:0.{name[-2]}"
    assert card.mse < card.mse_pd
    assert card.auroc > 0.7
    config = read_config(shipped()[name] / "run.toml")
    assert (config.data, config.labels.noise) == (card.data, card.noise)
    page = (shipped()[name] / "README.md").read_text()
    assert f"{card.auroc:.3f}" in page
    assert "mentornet learn-mentor" in card.command


@pytest.mark.parametrize("name", LEARNED)
def test_learned_mentors_trust_small_losses_more(name: str) -> None:
    """At every progress, around a percentile as it is in training."""
    mentor = Mentor.from_pretrained(name)
    for epoch in range(5, 100, 5):
        losses = torch.tensor([0.05, 0.5, 8.0])
        weight = mentor.weigh(MentorFeatures.from_loss(losses, loss_level=4.0, progress=epoch))
        assert weight[0] > weight[2] + 0.3


@pytest.mark.parametrize("name", [*sorted(CURRICULA), *LEARNED])
def test_no_path_of_a_machine(name: str) -> None:
    for file in shipped()[name].iterdir():
        if file.suffix in {".md", ".json", ".toml"}:
            assert str(Path.home()) not in file.read_text()


@pytest.mark.parametrize("name", ["self-paced", "pd", "linear"])
def test_beyond_the_grid_a_huge_loss_still_counts_nothing(name: str) -> None:
    far = MentorFeatures.from_loss(torch.tensor([0.01, 40.0, 200.0]), loss_level=1.0)
    weight = Mentor.from_pretrained(name).weigh(far)
    assert weight[0] > 0.99
    assert weight[1:].max() < 0.01


@pytest.mark.parametrize("name", [*sorted(CURRICULA), *LEARNED])
def test_any_label_will_do(name: str) -> None:
    """They read no label, so they serve any number of classes."""
    mentor = Mentor.from_pretrained(name)
    loss = torch.full((3, mentor.config.history), 1.0)
    weight, same = (
        mentor.weigh(MentorFeatures.from_loss(loss, label=torch.tensor(label)))
        for label in ([0, 7, 999], [0, 0, 0])
    )
    assert torch.equal(weight, same)
    assert weight.isfinite().all()
