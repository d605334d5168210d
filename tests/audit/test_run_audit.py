"""`mentornet audit` on real runs: ended, not ended, moved; and training on what it says."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mentornet.audit.run_audit import audit_run
from mentornet.cli import main
from mentornet.config import LabelsConfig, MethodConfig, TrainConfig, read_config
from mentornet.training import Trainer, prepare
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
    assert "mentornet-early, 15 epochs, seed 0" in page
    before = (out / "report.html").stat().st_mtime_ns
    assert main(["audit", f"{digits}", "--out", f"{out}"]) == 2
    assert "already; set overwrite to replace it" in capsys.readouterr().err
    assert (out / "report.html").stat().st_mtime_ns == before
    assert main(["audit", f"{digits}", "--out", f"{out}", "--overwrite"]) == 0


def test_somebody_knows_how_many_are_wrong(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "audit"
    assert main(["audit", f"{digits}", "--out", f"{out}", "--noise-rate", "0.1"]) == 0
    suspect = pd.read_csv(out / "issues.csv")["is_label_issue"].sum()
    assert 0.09 < suspect / 1437 <= 0.1 + 1 / 1437
    words = ["audit", f"{digits}", "--out", f"{tmp_path / 'none'}", "--noise-rate", "40"]
    assert main(words) == 2
    assert "noise-rate must be in [0, 1], got 40" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


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
    assert main([*words, "--verdicts", decisions]) == 2  # without the noise: other labels
    assert "decisions.csv" in capsys.readouterr().err
    put(tmp_path / "unknown.csv", "index,decision\n99999,drop\n")
    assert main([*words, "--verdicts", f"{tmp_path / 'unknown.csv'}"]) == 2
    assert "99999" in capsys.readouterr().err
    every = "index,decision\n" + "".join(f"{n},drop\n" for n in range(1437))
    put(tmp_path / "every.csv", every)
    assert main([*words, "--verdicts", f"{tmp_path / 'every.csv'}"]) == 2
    assert "the verdicts drop every sample" in capsys.readouterr().err
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
    assert done.notes[0] == "the run has not ended; this audit is based on 15 of 15 epochs"
    assert done.ranking.quality == pytest.approx(whole.quality, abs=1e-6)
    assert (done.ranking.is_issue == whole.is_issue).all()


def test_a_run_with_decisions_that_has_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its suspects have the numbers that samples had before some were dropped."""
    decisions, run = tmp_path / "first.csv", tmp_path / "run"
    decisions.write_text("index,decision\n" + "".join(f"{at},drop\n" for at in range(100)))
    words = ["train", "digits", *RUN, "--limit", "400", "--epochs", "2", "--out", f"{run}"]

    def stop(self: Trainer) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "close_run", stop)
    assert main([*words, "--verdicts", f"{decisions}", "--checkpoint-seconds", "0"]) != 0
    assert audit_run(run).ranking.evidence.index.tolist() == list(range(100, 400))


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
    assert set(manifest.columns) == {"path", "label", "split", "true_label"}
    assert all(Path(path).is_file() for path in manifest["path"])
    assert shown.retrain == f"train {run / 'audit' / 'cleaned.csv'} --config {run / 'config.toml'}"
    assert main([*shown.retrain.split(), "--epochs", "1", "--out", f"{tmp_path / 'new'}"]) == 0
    shutil.move(tmp_path / "photos", tmp_path / "elsewhere")
    moved = audit_run(run, overwrite=True)
    assert moved.notes[0].startswith("samples are not shown, and those that were held out are not ")
    assert (moved.ranking.quality == shown.ranking.trained.quality).all()
    assert "samples are not shown" in (run / "audit" / "report.html").read_text()


def test_what_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", f"{tmp_path}"]) == 2
    assert "is not a run: it has no config.toml" in capsys.readouterr().err


def test_a_second_round_of_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Samples keep their numbers when others are dropped, so both rounds can be followed."""
    first = tmp_path / "first"
    assert main(["train", "digits", *RUN, "--out", f"{first}"]) == 0
    one = audit_run(first)
    second = tmp_path / "second"
    words = [word for word in one.retrain.split() if word != "NEW"]
    assert main([*words, "--out", f"{second}"]) == 0
    kept = pd.read_parquet(second / "records.parquet")["index"]
    dropped = pd.read_csv(one.folder / "cleaned.csv")["index"]
    assert set(kept) == set(range(1437)) - set(dropped)
    two = audit_run(second)
    assert two.retrain.count(".csv") == 2
    assert main([*two.retrain.split(), "--epochs", "1", "--out", f"{tmp_path / 'third'}"]) == 0
    notes = capsys.readouterr().err
    assert notes.count("are left out") >= 2
    summary = json.loads((tmp_path / "third" / "summary.json").read_text())
    assert summary["noise_rate_actual"] < 0.05


def test_verified_samples_keep_their_verdicts(tmp_path: Path) -> None:
    """A file of verified samples names them by number; what another one drops must not shift it."""
    truth = prepare(TrainConfig("digits", labels=LabelsConfig("uniform:0.4"))).train
    assert truth.true_label is not None
    right = truth.given_label == truth.true_label
    lines = [f"{n},{'yes' if right[n] else 'no'},{truth.true_label[n]}" for n in range(0, 1437, 3)]
    clean = put(tmp_path / "clean.csv", "\n".join(["index,is_correct,true_label", *lines]) + "\n")
    moved = [n for n in range(1437) if n % 5 == 0 and not right[n]]
    rows = [f"{n},{'drop' if n % 2 else 'relabel'},{truth.true_label[n]}" for n in moved]
    decisions = put(tmp_path / "decided.csv", "\n".join(["index,decision,label", *rows]) + "\n")
    labels = LabelsConfig("uniform:0.4", verdicts=(f"{clean}", f"{decisions}"))
    prepared = prepare(TrainConfig("digits", labels=labels))
    assert prepared.method.name == "mentornet-early"
    assert prepared.verdicts is not None
    assert len(prepared.train) == 1437
    index, said = prepared.verdicts.index, prepared.verdicts.true_label
    assert index.tolist() == sorted({*range(0, 1437, 3), *moved})
    assert (right[index] == prepared.verdicts.is_correct).all()
    dropped = {n for n in moved if n % 2}
    assert {int(n) for n in index[said < 0]} == dropped
    assert (said[said >= 0] == truth.true_label[index[said >= 0]]).all()
    followed = prepare(TrainConfig("digits", labels=labels, method=MethodConfig("full-model")))
    assert followed.samples is not None
    assert followed.samples.tolist() == [n for n in range(1437) if n not in dropped]
    assert followed.train.true_label is not None
    correct = followed.train.given_label == followed.train.true_label
    known = [at for at, n in enumerate(followed.samples.tolist()) if n in set(index.tolist())]
    assert correct[known].all()


def test_a_mentor_does_not_learn_from_its_own_audit(tmp_path: Path) -> None:
    """Suspects are guesses: they are followed by a method that learns from no verdict."""
    run, new = tmp_path / "run", tmp_path / "new"
    words = ["--clean-count", "100", "--limit", "400", "--out", f"{run}"]
    assert main(["train", "digits", *RUN, *words]) == 0
    done = audit_run(run)
    assert "--method mentornet-auto" in done.retrain
    assert main([*shlex.split(done.retrain), "--epochs", "1", "--out", f"{new}"]) == 0
    config = read_config(new / "config.toml")
    assert config.method.method == "mentornet-auto"
    assert config.labels.clean_count is None
    count = json.loads((new / "data.json").read_text())["train_images"]
    assert count == 400 - int(done.ranking.is_issue.sum())


def test_somebodys_own_list_does_not_say_how_many_are_wrong(digits: Path, tmp_path: Path) -> None:
    truth = prepare(TrainConfig("digits", labels=LabelsConfig("uniform:0.4"))).train
    assert truth.true_label is not None
    right = (truth.given_label == truth.true_label).nonzero().flatten()[:200].tolist()
    lines = [f"{n},yes" for n in right] + ["0,no"]
    clean = put(tmp_path / "clean.csv", "\n".join(["index,is_correct", *lines]) + "\n")
    run = tmp_path / "run"
    words = ["train", "digits", *RUN, "--clean", f"{clean}", "--method", "mentornet-dd"]
    assert main([*words, "--set", "steps=20", "--out", f"{run}"]) == 0
    found = audit_run(run).ranking
    assert found.wrong.low < 507 < found.wrong.high


def test_other_images_under_the_same_names(tmp_path: Path) -> None:
    for label, name in enumerate(("cat", "dog")):
        for number in range(20):
            put(tmp_path / "photos" / name / f"{number}.jpg", jpeg(label, number, 16, 16))
    run = tmp_path / "run"
    words = ["train", f"{tmp_path / 'photos'}", "--image-size", "8", "--student", "small-cnn"]
    assert main([*words, "--width", "4", "--epochs", "3", "--out", f"{run}"]) == 0
    put(tmp_path / "photos" / "cat" / "3.jpg", jpeg(1, 77, 16, 16))
    done = audit_run(run)
    assert "the data has changed since the run began" in done.notes[0]
    assert "--verdicts" in done.retrain  # no manifest of files that may be others


def test_streamed_runs_and_names_that_would_be_formulas(tmp_path: Path) -> None:
    for label, name in enumerate(("=cmd()", "<script>alert(1)</script>")):
        for number in range(30):
            shown = 1 - label if number % 5 == 0 else label
            put(tmp_path / "a b" / f"{label}" / f"{number}.jpg", jpeg(shown, number, 16, 16))
        (tmp_path / "a b" / f"{label}").rename(tmp_path / "a b" / name.replace("/", "\u2215"))
    run = tmp_path / "run"
    words = ["train", f"{tmp_path / 'a b'}", "--stream", "--image-size", "8", "--workers", "0"]
    words += ["--student", "small-cnn", "--width", "4", "--epochs", "8", "--batch-size", "16"]
    assert main([*words, "--learning-rate", "0.1", "--out", f"{run}"]) == 0
    done = audit_run(run)
    assert "'=cmd()" in (run / "audit" / "issues.csv").read_text()
    assert "<script>alert(1)" not in (run / "audit" / "report.html").read_text()
    command = shlex.split(done.retrain)
    assert main([*command, "--epochs", "1", "--out", f"{tmp_path / 'new'}"]) == 0


def test_a_run_that_was_killed_before_its_first_metrics(digits: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("config.toml", "data.json", "labels.npz"):
        shutil.copy(digits / name, run / name)
    (run / "trajectories").mkdir()
    losses = np.linspace(0, 3, 1437, dtype=np.float32)
    (run / "trajectories" / "epoch-0000.f32").write_bytes(losses.tobytes())
    done = audit_run(run)
    assert done.notes[0] == "the run has not ended; this audit is based on 1 of 15 epochs"
