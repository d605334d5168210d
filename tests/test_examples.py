"""The examples run, and show what they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import boosted_trees
import lightning_digits
import multi_label
import photos_pretrained
import plain_loop
import pytest
import regression
import segmentation
import sklearn_table
import table_file
import texts_file
import texts_minilm
import token_tags
import torch
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _random_state() -> Iterator[None]:
    """A DataLoader draws from the global generator: in here, the same in any order of tests."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def test_plain_loop() -> None:
    plain, mentored = plain_loop.main(epochs=40)
    assert mentored > plain + 0.08


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trainer = lightning_digits.main(
        epochs=20, logger=False, enable_progress_bar=False, enable_checkpointing=False
    )
    assert trainer.callback_metrics["val_accuracy"] > 0.85


def test_sklearn() -> None:
    plain, mentored = sklearn_table.accuracies("breast cancer", 0.4, seed=0)
    assert mentored > plain + 0.08


def test_boosted_trees() -> None:
    with threadpool_limits(1):  # two processes of tests share two cores
        found = boosted_trees.main(folds=3, rounds=1)
    assert min(found["mentored"], found["with 50 verdicts"]) > found["plain"] + 0.03


def test_token_tags() -> None:
    estimate, found = token_tags.main(epochs=10)
    assert estimate == pytest.approx(0.3, abs=0.05)
    assert found > 0.95


def test_segmentation() -> None:
    plain, mentored, estimate = segmentation.main(epochs=8)
    assert mentored > plain
    assert estimate == pytest.approx(0.21, abs=0.05)


def test_multi_label() -> None:
    plain, mentored, found = multi_label.main(epochs=12)
    assert mentored > plain + 0.05
    assert found > 0.9


def test_regression() -> None:
    plain, mentored, estimate, found = regression.main(epochs=12)
    assert mentored < plain / 2
    assert estimate == pytest.approx(0.2, abs=0.05)
    assert found > 0.9


def test_table_from_a_file(tmp_path: Path) -> None:
    assert table_file.main(tmp_path) > 0.9


def test_texts_from_a_file(tmp_path: Path) -> None:
    assert texts_file.main(tmp_path) > 0.8


def test_photos_with_a_pretrained_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path / 'cache'}")
    plain, ours, right, found = photos_pretrained.main(tmp_path, count=120)
    assert ours > plain + 0.05
    assert right > 0.9
    assert found > 0.8


def test_texts_with_minilm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path / 'cache'}")
    plain, ours, right, found = texts_minilm.main(tmp_path, count=400)
    assert ours > plain + 0.05
    assert right > 0.85
    assert found > 0.5
