"""What a run leaves behind, and what goes wrong in it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from mentornet.audit.run_contents import curves_of
from mentornet.config import read_config
from mentornet.errors import MentorNetError
from mentornet.figures.curves import draw_comparison, draw_run
from mentornet.figures.style import save
from mentornet.locking import LOCK
from mentornet.mentors import load_mentor
from mentornet.metrics import auroc
from mentornet.records import read_records
from mentornet.training import DivergedError, RunFolder, Trainer, load_student, predict, train
from tests.training.runs import prepared, small


def test_what_is_in_it(tmp_path: Path) -> None:
    config = small("mentornet-dd", tensorboard=True)
    summary = train(config, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoints", "config.toml", "data.json", "labels.npz", "mentors", "metrics.jsonl",
        "records.parquet", "summary.json", "tensorboard", LOCK,
    }  # fmt: skip
    assert json.loads((tmp_path / "summary.json").read_text()) == summary
    for key in (
        "accuracy_last", "accuracy_best", "seconds", "images_per_second", "noise_rate_actual",
        "weight_auroc",
    ):  # fmt: skip
        assert isinstance(summary[key], float), key
    run = RunFolder(tmp_path)
    rows = run.read_metrics()
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[-1]["test_accuracy"] == summary["accuracy_last"]
    assert max(row["test_accuracy"] for row in rows) == summary["accuracy_best"]
    assert read_config(run.config).optimiser.epochs == 6
    learned = run.learned_mentors()
    assert {*(folder for folder, _ in learned), run.mentors / "series.json"} == {
        *run.mentors.iterdir()
    }
    assert all(folder.name.endswith(f"-at-{progress:02d}") for folder, progress in learned)
    assert all(load_mentor(folder).config.history == 2 for folder, _ in learned)
    assert any((tmp_path / "tensorboard").iterdir())


def test_it_can_be_judged_less_often(tmp_path: Path) -> None:
    often = train(small(epochs=5), tmp_path / "often")
    seldom = train(small(epochs=5, evaluate_every=2), tmp_path / "seldom")
    rows, few = (RunFolder(tmp_path / name).read_metrics() for name in ("often", "seldom"))
    looks = {row["epoch"]: row["test_accuracy"] for row in few if "test_accuracy" in row}
    assert looks == {epoch: rows[epoch - 1]["test_accuracy"] for epoch in (2, 4, 5)}
    assert seldom["accuracy_last"] == often["accuracy_last"]
    assert seldom["accuracy_best"] == max(looks.values())
    save(draw_run(few, seldom), tmp_path / "curves")
    save(draw_comparison({"PD": few}, "now and then"), tmp_path / "compared")
    accuracy = next(curve for curve in curves_of(few) if "test" in curve.name).values
    assert np.isnan(accuracy[0])  # nobody has looked yet
    assert accuracy[[1, 3, 4]].tolist() == list(looks.values())
    assert accuracy[2] == pytest.approx((looks[2] + looks[4]) / 2)


def test_the_labels_that_were_trained_on_are_stored(tmp_path: Path) -> None:
    summary = train(small(), tmp_path)
    stored = np.load(tmp_path / "labels.npz")
    wrong = (stored["given_label"] != stored["true_label"]).mean()
    assert summary["noise_rate_actual"] == pytest.approx(wrong)
    table = read_records(tmp_path / "records.parquet")
    assert table["given_label"].tolist() == stored["given_label"].tolist()
    assert table["true_label"].tolist() == stored["true_label"].tolist()
    assert len(table["loss"][0]) == 6


def test_weight_auroc_is_that_of_the_last_weights(tmp_path: Path) -> None:
    summary = train(small(), tmp_path)
    table = read_records(tmp_path / "records.parquet")
    weight = torch.tensor(table["last_weight"].to_numpy())
    right = torch.tensor((table["given_label"] == table["true_label"]).to_numpy())
    assert summary["weight_auroc"] == pytest.approx(auroc(weight, right))


def test_clean_data_has_no_auroc(tmp_path: Path) -> None:
    summary = train(small(noise=None, epochs=1), tmp_path)
    assert summary["weight_auroc"] is None
    assert summary["noise_rate_actual"] is None


def test_best_and_last_student(tmp_path: Path) -> None:
    trainer = Trainer(prepared("full-model"), RunFolder(tmp_path))
    summary = train(small("full-model"), tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    test = trainer.prepared.test
    for best, wanted in ((False, "accuracy_last"), (True, "accuracy_best")):
        chances = predict(load_student(run, best=best), test.tensor)
        assert chances.sum(1).allclose(torch.ones(len(test)))
        accuracy = (chances.argmax(1) == test.given_label).double().mean().item()
        assert accuracy == pytest.approx(summary[wanted])


def test_no_number_stops_the_run_and_poisons_nothing(tmp_path: Path) -> None:
    config = small("full-model", epochs=6, learning_rate=1e12, warm_up=0.9)
    with pytest.raises(DivergedError, match=r"NaN or infinite at step (\d+) of 36"):
        train(config, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    assert not run.summary.exists()
    for path in run.checkpoints.paths():
        state = torch.load(path, weights_only=True)
        assert all(value.isfinite().all() for value in state["student"].values())


def test_a_student_spoilt_by_the_last_step_of_an_epoch_is_not_saved(tmp_path: Path) -> None:
    """Not even where nobody judges it then."""
    (tmp_path / "config.toml").touch()  # marks a run
    trainer = Trainer(prepared("mentornet-pd", evaluate_every=6), RunFolder(tmp_path))
    step = trainer.step

    def poisoned(batch, epoch):  # type: ignore[no-untyped-def]
        step(batch, epoch)
        if trainer.steps_done == 12:
            next(trainer.module.parameters()).data.fill_(float("nan"))

    trainer.step = poisoned  # type: ignore[method-assign]
    with pytest.raises(DivergedError, match=r"step 12 of 36; the last good checkpoint is .*0001-"):
        trainer.fit()


def test_no_number_names_the_last_good_checkpoint(tmp_path: Path) -> None:
    """The third epoch brings an image that is no number; two checkpoints are there by then."""
    (tmp_path / "config.toml").touch()  # marks a run
    trainer = Trainer(prepared("mentornet-pd"), RunFolder(tmp_path))
    step = trainer.step

    def poisoned(batch, epoch):  # type: ignore[no-untyped-def]
        if epoch == 2:
            batch.inputs.fill_(float("nan"))
        step(batch, epoch)

    trainer.step = poisoned  # type: ignore[method-assign]
    with pytest.raises(DivergedError, match=r"step 13 of 36; the last good checkpoint is .*0002-"):
        trainer.fit()


def test_a_mentor_is_not_learned_from_what_is_no_number(tmp_path: Path) -> None:
    config = small("mentornet-dd", learning_rate=1e12, set=("updates=0.9", "steps=5"), epochs=2)
    with pytest.raises(DivergedError, match="NaN or infinite at step"):
        train(config, tmp_path / "run")


def test_no_space_on_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mentornet.training import Observer

    config = small()
    run = RunFolder(tmp_path / "run")
    write = os.fsync

    class Fills(Observer):
        def epoch(self, row):  # type: ignore[no-untyped-def]
            if row["epoch"] == 3:
                monkeypatch.setattr(os, "fsync", full)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        train(config, run.path, observer=Fills())
    monkeypatch.setattr(os, "fsync", write)
    assert [path.name[:10] for path in run.checkpoints.paths()] == ["epoch-0001", "epoch-0002"]
    assert [path.name for path in run.path.rglob(".*") if path.is_file()] == [LOCK]
    assert train(config, run.path, resume=True)["epochs"] == 6


def test_changed_data_is_found_out(tmp_path: Path) -> None:
    from mentornet.data import Splits, load_digits

    digits = load_digits()
    config = small("full-model", noise=None, limit=None, epochs=1)
    train(config, tmp_path, splits=digits)
    (tmp_path / "summary.json").unlink()
    changed = Splits(digits.train.rows(slice(1, None)), digits.test)
    with pytest.raises(MentorNetError, match="the data has changed since"):
        train(config, tmp_path, resume=True, splits=changed)


def test_nothing_is_written_without_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    summary = train(small(epochs=1))
    assert summary["epochs"] == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(MentorNetError, match=r"not empty \(it has notes.txt\)"):
        train(small(), tmp_path)
    with pytest.raises(MentorNetError, match="is not a run"):
        load_student(RunFolder(tmp_path))
