"""Mentors of one run serve another, each from the point on at which it was learned."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures
from mentornet.mentors import MentorSeries, load_mentor
from mentornet.methods import Task, make_method
from mentornet.methods.weighted import Weighted
from mentornet.training import RunFolder, prepare, train
from mentornet.weighting import Evidence
from tests.training.runs import assert_same_outcome, small
from tests.training.stopping import StoppedError, StopsAfter

LEARNS = (
    "updates=0.21,0.75", "steps=20", "fallback=off", "held_out=0", "smoothing=0", "sharpness=0",
    "burn_in=0.2", "burn_in_drop=0.5", "reads_label=true",
)  # fmt: skip


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learned two mentors."""
    folder = tmp_path_factory.mktemp("learned") / "run"
    train(small("mentornet-dd", set=LEARNS), folder)
    return folder


def test_a_run_folder_is_a_series(learned: Path) -> None:
    series = MentorSeries.from_pretrained(learned)
    assert series.progress == (22, 75)  # steps 8 and 27 of 36
    assert len(RunFolder(learned).learned_mentors()) == 2
    notes = RunFolder(learned).read_summary()["lessons"]
    assert [note["used"] for note in notes] == ["the learned one"] * 2
    assert [note["error"] for note in notes] == [None, None]  # nothing was held out


def test_before_its_first_point_it_does_what_that_run_did(learned: Path) -> None:
    """Burn-in as configured, then PD, then the mentors with label 0."""
    method = make_method(
        "mentornet-dd", mentor=f"{learned}", burn_in=0.1, burn_in_drop=0.0, smoothing=0.0,
        sharpness=0.0,
    )  # fmt: skip
    supervision = method.start(Task(count=4, classes=100, total_steps=100))
    assert isinstance(supervision, Weighted)
    losses = torch.tensor([0.1, 2.0, 4.0, 0.5])
    evidence = Evidence(losses, torch.tensor([3, 99, 50, 0]), torch.arange(4))
    series = MentorSeries.from_pretrained(learned)
    by = {
        5: None, 21: load_mentor("pd"), 22: series.mentors[0], 74: series.mentors[0],
        75: series.mentors[1],
    }  # fmt: skip
    for step in range(80):
        weights = supervision.weights(evidence, 0.1)
        if step in by:
            seen = supervision.engine.level.value
            rule = by[step]
            expected = torch.ones(4)
            if rule is not None:
                features = MentorFeatures.from_loss(losses, loss_level=seen.item(), progress=step)
                expected = rule.weight(features)  # type: ignore[operator]
            assert weights is not None
            assert torch.allclose(weights, expected), step


def test_a_run_with_a_series_goes_on_to_the_same_end(learned: Path, tmp_path: Path) -> None:
    config = small("mentornet-dd", set=(f"mentor={learned}",), clean_count=None)
    train(config, tmp_path / "whole")
    with pytest.raises(StoppedError):
        train(config, tmp_path / "stopped", observer=StopsAfter(3))
    train(config, tmp_path / "stopped", resume=True)
    assert_same_outcome(tmp_path / "whole", tmp_path / "stopped")


def test_updates_of_a_given_mentor_are_an_error(learned: Path) -> None:
    for mentor in ("dd-cifar10-40", f"{learned}"):
        words = (f"mentor={mentor}", "updates=0.21,0.75")
        with pytest.raises(MentorNetError, match="is not learned again: leave out updates"):
            prepare(small("mentornet-dd", set=words, clean_count=None))


def test_a_series_that_reads_labels_of_fewer_classes(learned: Path) -> None:
    method = make_method("mentornet", mentor=f"{learned}")
    with pytest.raises(MentorNetError, match="knows 10 labels, but the data has 100 classes"):
        method.start(Task(count=4, classes=100, total_steps=10))


def test_nothing_held_out_but_a_fallback() -> None:
    with pytest.raises(MentorNetError, match="set fallback=off too"):
        make_method("mentornet-dd", held_out=0.0)
