"""A series of mentors: who serves when, and what cannot be one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mentornet import Mentor, MentorSeries, make_mentor
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures
from mentornet.mentors import load_rule
from mentornet.mentors.store import PRETRAINED

LOSS = torch.tensor([0.1, 1.0, 4.0])


def features(progress: int) -> MentorFeatures:
    return MentorFeatures.from_loss(LOSS, loss_level=1.0, progress=progress)


def mentors(count: int = 2, **sizes: int | bool) -> list[Mentor]:
    return [make_mentor("mlp", seed=seed, **sizes).eval() for seed in range(1, count + 1)]


@pytest.mark.parametrize(
    ("progress", "who"),
    [(0, "pd"), (20, "pd"), (21, "first"), (74, "first"), (75, "second"), (99, "second")],
)  # fmt: skip
def test_each_serves_from_its_own_point_on(progress: int, who: str) -> None:
    first, second = mentors()
    by_name = {"pd": Mentor.from_pretrained("pd"), "first": first, "second": second}
    found = MentorSeries([(21, first), (75, second)]).weight(features(progress))
    assert torch.equal(found, by_name[who].weight(features(progress)))


def test_saved_and_loaded_it_gives_the_same_weights(tmp_path: Path) -> None:
    series = MentorSeries(list(zip((21, 75), mentors(), strict=True)))
    series.save_pretrained(tmp_path)
    loaded = load_rule(tmp_path)
    assert isinstance(loaded, MentorSeries)
    assert loaded.progress == (21, 75)
    for progress in (10, 50, 90):
        assert torch.allclose(loaded.weight(features(progress)), series.weight(features(progress)))
    index = json.loads((tmp_path / "series.json").read_text())
    assert index == {
        "format": 1,
        "mentors": [
            {"number": 1, "progress": 21, "folder": "1-at-21"},
            {"number": 2, "progress": 75, "folder": "2-at-75"},
        ],
    }


def test_a_shipped_mentor_may_be_a_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mentornet.mentors.store.PRETRAINED", tmp_path)
    (tmp_path / "pd").symlink_to(PRETRAINED / "pd")
    MentorSeries([(30, mentors(1)[0])]).save_pretrained(tmp_path / "some")
    loaded = load_rule("some")
    assert isinstance(loaded, MentorSeries)
    with pytest.raises(MentorNetError, match="holds a series of mentors, not one"):
        Mentor.from_pretrained("some")


@pytest.mark.parametrize(
    ("progress", "message"),
    [
        ((), "at least one mentor"),
        ((75, 21), r"must rise, got \(75, 21\)"),
        ((21, 21), r"must rise, got \(21, 21\)"),
        ((0, 21), r"must be in 1–99, got \(0, 21\)"),
        ((21, 100), r"must be in 1–99, got \(21, 100\)"),
    ],
)
def test_points_that_cannot_be(progress: tuple[int, ...], message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        MentorSeries(list(zip(progress, mentors(len(progress)), strict=True)))


def test_mentors_of_another_number_of_classes() -> None:
    one, other = mentors(1)[0], mentors(1, num_classes=100)[0]
    with pytest.raises(MentorNetError, match="for 10 labels and 100 labels"):
        MentorSeries([(21, one), (75, other)])


def edit(folder: Path, change: dict[str, object]) -> None:
    path = folder / "series.json"
    index = json.loads(path.read_text())
    index["mentors"][1].update(change)
    path.write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": 3}, "has a gap: there is no mentor of update 2.*fallback=off"),
        ({"progress": 20}, r"series.json: the points of a series must rise, got \(21, 20\)"),
        ({"progress": "75"}, "progress must be a whole number"),
        ({"folder": "../elsewhere"}, "must be a name beside it"),
        ({"more": 1}, "has an unknown key 'more'"),
        ({"folder": "none"}, "series.json: .*none"),
    ],
)
def test_an_index_that_was_edited(tmp_path: Path, change: dict[str, object], message: str) -> None:
    MentorSeries(list(zip((21, 75), mentors(), strict=True))).save_pretrained(tmp_path)
    edit(tmp_path, change)
    with pytest.raises(MentorNetError, match=message):
        load_rule(tmp_path)


def test_a_folder_without_an_index(tmp_path: Path) -> None:
    mentors(1)[0].save_pretrained(tmp_path)
    with pytest.raises(MentorNetError, match="holds no series of mentors"):
        MentorSeries.from_pretrained(tmp_path)


def test_a_folder_with_a_name_that_no_file_system_has(tmp_path: Path) -> None:
    point = {"number": 1, "progress": 21, "folder": "x" * 300}
    (tmp_path / "series.json").write_text(json.dumps({"format": 1, "mentors": [point]}))
    with pytest.raises(MentorNetError, match=r"series\.json: folder must be a name beside it"):
        MentorSeries.from_pretrained(tmp_path)
