"""Images that do not fit into memory are streamed, with no flag."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from mentornet.cli import main
from mentornet.config import TrainConfig, read_config
from mentornet.data import load_data
from mentornet.data.files import memory
from mentornet.training import prepare
from tests.data.layouts import jpeg, put

SIDE, COUNT = 32, 24
NEEDED = COUNT * 3 * SIDE**2
QUICK = ("--epochs", "2", "--batch-size", "8", "--width", "4", "--workers", "0")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Photographs of two classes."""
    folder = tmp_path / "photos"
    for number in range(COUNT):
        put(folder / "ab"[number % 2] / f"{number}.jpg", jpeg(number % 2, number, SIDE, SIDE))
    return folder


def have(monkeypatch: pytest.MonkeyPatch, of: int) -> None:
    """Let this machine have so many bytes of memory."""
    monkeypatch.setattr(memory, "memory_here", lambda: of)


def run(*words: object) -> None:
    assert main([f"{word}" for word in words]) == 0


def test_a_third_of_the_memory_is_enough(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, 3 * NEEDED)
    assert not load_data(f"{photos}").train.streamed
    have(monkeypatch, 3 * NEEDED - 3)
    splits = load_data(f"{photos}")
    assert splits.train.streamed
    assert splits.train.shape == (3, SIDE, SIDE)  # as in memory
    assert "24 images of 32 × 32 pixels would take 0.0 GB of memory" in splits.notes[0]


def test_processes_share_the_memory(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, 3 * NEEDED)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert load_data(f"{photos}").train.streamed


def test_all_but_the_images_is_as_in_memory(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TrainConfig(f"{photos}")
    whole = prepare(config)
    have(monkeypatch, NEEDED)
    found = prepare(config)
    assert found.config.student == whole.config.student
    assert found.config.method == whole.config.method
    assert found.config.optimiser.epochs == whole.config.optimiser.epochs
    assert found.config.optimiser.padding == 0  # a view is cropped from the whole image
    assert found.config.files.stream
    assert found.config.files.image_size == SIDE
    assert found.train.given_label.tolist() == whole.train.given_label.tolist()


def test_the_run_goes_on_where_memory_is_plenty(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = tmp_path / "run"
    have(monkeypatch, NEEDED)
    run("train", photos, "--out", done, *QUICK)
    assert read_config(done / "config.toml").files.stream
    have(monkeypatch, 1 << 40)
    assert prepare(read_config(done / "config.toml")).train.streamed
    run("train", "--out", done, "--resume")
    run("audit", done)
    assert "data:image" in (done / "audit" / "report.html").read_text()
    run("predict", done, photos, "--out", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        assert len(list(csv.DictReader(file))) == COUNT


def test_the_memory_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_LIMITS", (limit, tmp_path / "missing"))
    machine = memory.memory_here()
    assert machine is not None
    for text, expected in (("max\n", machine), ("12345678\n", 12_345_678), (f"{1 << 62}", machine)):
        limit.write_text(text)
        assert memory.memory_here() == expected
