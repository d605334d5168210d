"""`mentornet audit` on real runs: ended, not ended, moved; and training on what it says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from mentornet.cli import main
from mentornet.training import Trainer
from mentornet.training.auditing import audit_run
from tests.data.layouts import jpeg, put

RUN = ("--noise", "uniform:0.4", "--width", "8", "--epochs", "15")


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("audit") / "run"
    assert main(["train", "digits", *RUN, "--out", f"{run}"]) == 0
    return run


def test_a_run_is_audited(digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "audit"
    assert main(["audit", f"{digits}", "--out", f"{out}"]) == 0
    said = capsys.readouterr().out
    assert "labels are suspect; about" in said
    issues = pd.read_csv(out / "issues.csv")
    assert len(issues) == 1437
    suspect = issues[issues["is_label_issue"]]
    wrong = suspect["given_label"] != suspect["true_label"]
    assert wrong.mean() > 0.9
    assert len(suspect) > 300
    page = (out / "report.html").read_text()
    assert "Labels of digits" in page
    assert "mentornet-auto, 15 epochs, seed 0" in page
    before = (out / "report.html").stat().st_mtime_ns
    assert main(["audit", f"{digits}", "--out", f"{out}"]) == 2
    assert "already; add --overwrite to replace it" in capsys.readouterr().err
    assert (out / "report.html").stat().st_mtime_ns == before
    assert main(["audit", f"{digits}", "--out", f"{out}", "--overwrite"]) == 0


def test_training_on_the_cleaned_data(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "audit"
    assert main(["audit", f"{digits}", "--out", f"{out}", "--relabel", "0.9"]) == 0
    said = capsys.readouterr().out.splitlines()
    command = next(line for line in said if line.startswith("train without them: mentornet "))
    words = command.removeprefix("train without them: mentornet ").split()
    words = [f"{tmp_path / 'new'}" if word == "NEW" else word for word in words]
    assert main([*words, "--method", "full-model"]) == 0
    clean = json.loads((tmp_path / "new" / "summary.json").read_text())
    noisy = json.loads((digits / "summary.json").read_text())
    assert clean["noise_rate_actual"] < 0.1 < 0.3 < noisy["noise_rate_actual"]
    assert "samples are relabelled" in capsys.readouterr().err
    assert clean["accuracy_last"] > 0.9


def test_decisions_of_other_data(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit_run(digits, tmp_path / "audit")
    decisions = f"{tmp_path / 'audit' / 'decisions.csv'}"
    words = ["train", "digits", "--epochs", "1", "--out", f"{tmp_path / 'x'}"]
    assert main([*words, "--decisions", decisions]) == 2  # without the noise: other labels
    assert "decisions.csv" in capsys.readouterr().err
    put(tmp_path / "unknown.csv", "index,decision\n99999,drop\n")
    assert main([*words, "--decisions", f"{tmp_path / 'unknown.csv'}"]) == 2
    assert "99999" in capsys.readouterr().err
    every = "index,decision\n" + "".join(f"{n},drop\n" for n in range(1437))
    put(tmp_path / "every.csv", every)
    assert main([*words, "--decisions", f"{tmp_path / 'every.csv'}"]) == 2
    assert "drops every sample" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_run_that_has_not_ended(
    digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records are not written yet: trajectories and the last checkpoint tell."""
    whole = audit_run(digits, tmp_path / "whole").ranking
    run = tmp_path / "run"
    words = ["train", "digits", *RUN, "--out", f"{run}", "--checkpoint-seconds", "0"]

    def stop(self: Trainer) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "close_run", stop)
    assert main(words) != 0
    assert not (run / "records.parquet").exists()
    done = audit_run(run)
    assert done.notes[0] == "the run has not ended: this is what 15 of 15 epochs tell"
    assert done.ranking.quality == pytest.approx(whole.quality, abs=1e-6)
    assert (done.ranking.is_issue == whole.is_issue).all()


def test_images_that_moved(tmp_path: Path) -> None:
    for label, name in enumerate(("cat", "dog")):
        for number in range(30):
            put(tmp_path / "photos" / name / f"{number}.jpg", jpeg(label, number, 16, 16))
    put(tmp_path / "photos" / "cat" / "odd.jpg", jpeg(1, 99, 16, 16))
    run = tmp_path / "run"
    words = ["train", f"{tmp_path / 'photos'}", "--image-size", "8", "--student", "small-cnn"]
    assert main([*words, "--width", "4", "--epochs", "8", "--out", f"{run}"]) == 0
    shown = audit_run(run)
    manifest = pd.read_csv(run / "audit" / "cleaned.csv")
    assert set(manifest.columns) == {"path", "label", "split"}
    assert all(Path(path).is_file() for path in manifest["path"])
    assert shown.retrain == f"train {run / 'audit' / 'cleaned.csv'}"
    assert main([*shown.retrain.split(), "--epochs", "1", "--out", f"{tmp_path / 'new'}"]) == 0
    shutil.move(tmp_path / "photos", tmp_path / "elsewhere")
    moved = audit_run(run, overwrite=True)
    assert moved.notes[0].startswith("the images are not shown: ")
    assert (moved.ranking.quality == shown.ranking.quality).all()
    assert "the images are not shown" in (run / "audit" / "report.html").read_text()


def test_what_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", f"{tmp_path}"]) == 2
    assert "is not a run: it has no config.toml" in capsys.readouterr().err
