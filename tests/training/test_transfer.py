"""A mentor learned from a finished run, to take elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mentornet import Mentor, MentorLoss, MentorNetError
from mentornet.cli import main
from mentornet.config import read_config
from mentornet.mentors import FitConfig, LearnedCard, read_card
from mentornet.records import read_records
from mentornet.training import prepare
from mentornet.training.transfer import learn_mentor, read_lessons


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("transfer") / "run"
    words = "--noise uniform:0.4 --clean-count 150 --epochs 8 --width 8 --set steps=60"
    taught = ["--method", "mentornet-dd", "--out", f"{out}"]
    assert main(["train", "digits", *words.split(), *taught]) == 0
    return out


def test_lessons_are_the_runs_own_losses(run: Path) -> None:
    """Smoothed as the run's mentors saw them, ℓ̄ ← 0.8 ℓ̄ + 0.2 ℓ."""
    lesson, sample = read_lessons(run)
    verified = prepare(read_config(run / "config.toml")).verdicts
    assert verified is not None
    table = read_records(run / "records.parquet")
    lines = (run / "metrics.jsonl").read_text().splitlines()
    levels = [json.loads(line)["loss_level"] for line in lines]
    assert len(sample) == 150 * 8 * 4
    for row in (0, 17, 1234, 4799):
        epoch = row // 4 % 8
        place = int(verified.index[sample[row]])
        loss, *later = np.stack(table["loss"])[place, : epoch + 1]
        for value in later:
            loss = 0.8 * loss + 0.2 * value
        assert lesson.features.loss[row].item() == pytest.approx(loss)
        assert lesson.features.loss_level[row].item() == pytest.approx(levels[epoch], abs=1e-5)
        assert lesson.features.progress[row] * 8 // 100 == epoch
        given = table["given_label"][place] == table["true_label"][place]
        assert lesson.target[row].item() == given
    assert set(lesson.features.progress.tolist()) == set(range(100))


def test_it_beats_the_predefined_one_on_samples_it_has_not_seen(run: Path) -> None:
    found = learn_mentor(run, FitConfig(steps=600, learning_rate=0.03))
    assert found.error < found.error_predefined
    assert found.auroc > 0.8
    assert (found.verified, found.epochs) == (150, 8)
    verified = prepare(read_config(run / "config.toml")).verdicts
    assert verified is not None
    assert found.wrong == int((~verified.is_correct).sum())


def test_the_command_writes_a_folder_that_the_drop_in_takes(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "dd"
    words = ["learn-mentor", "--run-folder", f"{run}", "--out", f"{out}", "--steps", "100"]
    assert main(words) == 0
    card = read_card(out)
    assert isinstance(card, LearnedCard)
    assert read_config(out / "run.toml") == read_config(run / "config.toml")
    assert "| learned on | digits, uniform:0.4" in (out / "README.md").read_text()
    assert not Mentor.from_pretrained(out).config.use_label
    criterion = MentorLoss(out, total_steps=10, burn_in=0.0)
    assert criterion(torch.eye(4), torch.arange(4)).isfinite()
    assert main(words) == 2  # there already


def test_runs_that_cannot_teach(run: Path, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=r"not a finished run: it has no summary\.json"):
        learn_mentor(tmp_path, FitConfig(steps=1))
    plain = tmp_path / "plain"
    assert main(["train", "digits", "--epochs", "1", "--width", "4", "--out", f"{plain}"]) == 0
    with pytest.raises(MentorNetError, match="had no verified samples to learn from"):
        learn_mentor(plain, FitConfig(steps=1))
    checked = tmp_path / "checked"
    words = ["--method", "verified", "--clean-count", "50", "--epochs", "1", "--width", "4"]
    assert main(["train", "digits", "--noise", "uniform:0.4", *words, "--out", f"{checked}"]) == 0
    with pytest.raises(MentorNetError, match="has no loss_level to compare losses with"):
        learn_mentor(checked, FitConfig(steps=1))
