"""The benchmark of labels that rules and people gave, on tiny files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from benchmarks.real_noise import __main__ as program
from benchmarks.real_noise import results
from benchmarks.real_noise.figure import draw
from benchmarks.real_noise.page import PAGE, PICTURE, render
from benchmarks.real_noise.results import CASES, Cell, Entry, cells, file_of, read, stored
from benchmarks.real_noise.rows import ROWS, Student, made_by, rows_of
from benchmarks.real_noise.sets import Task, read_task
from benchmarks.real_noise.training import default_recipe, run
from benchmarks.real_noise.tuning import TRIALS, best, candidates
from mentornet.config import OptimiserConfig, StudentConfig, TrainConfig
from mentornet.data.noise.kinds import noise_rate
from mentornet.figures.style import save
from mentornet.files import read_json, write_json
from mentornet.training import prepare
from tests.students.pretrained_models import text_model

COUNT, WRONG = 200, 0.2


def table(count: int = COUNT, seed: int = 0) -> pd.DataFrame:
    """Three classes of three numbers; a fifth of the training labels is wrong."""
    draw_ = np.random.default_rng(seed)
    true = draw_.integers(0, 3, count)
    split = np.where(np.arange(count) < count * 0.6, "train", "test")
    split[-10:] = "val"
    wrong = (draw_.random(count) < WRONG) & (split == "train")
    rows = {"label": np.where(wrong, (true + 1) % 3, true), "true_label": true, "split": split}
    x = np.eye(3)[true] * 3 + draw_.normal(size=(count, 3))
    return pd.DataFrame({f"feature{place}": x[:, place] for place in range(3)} | rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    read_task.cache_clear()
    table().to_csv(tmp_path / "music-one-worker.csv", index=False)
    return tmp_path


@pytest.fixture
def task(folder: Path) -> Task:
    return read_task("music-one-worker", folder)


def test_a_file_is_read(task: Task) -> None:
    rows = table()
    train, test = rows[rows["split"] == "train"], rows[rows["split"] == "test"]
    assert task.given.tolist() == train["label"].tolist()
    assert task.wrong.tolist() == (train["label"] != train["true_label"]).tolist()
    assert task.y_test.tolist() == test["true_label"].tolist()
    assert task.x.mean(0).abs().max() < 1e-5  # scaled by the training rows
    assert (task.x.std(0, correction=0) - 1).abs().max() < 1e-5
    assert noise_rate(task.splits.train.given_label, task.true) == task.wrong.float().mean()


def test_settings_are_chosen_without_test_rows_and_true_labels(task: Task) -> None:
    part = task.trial(3)
    known = {
        tuple(row): label for row, label in zip(task.x.tolist(), task.given.tolist(), strict=True)
    }
    assert len(part.x) + len(part.x_test) == len(task.x)
    assert len(part.x_test) == round(0.2 * len(task.x))
    for rows, labels in ((part.x, part.given), (part.x_test, part.y_test)):
        assert [known.pop(tuple(row)) for row in rows.tolist()] == labels.tolist()
    assert not known
    assert not torch.equal(part.x, task.trial(4).x)


@pytest.mark.parametrize("student", ["head", "mlp"])
def test_all_methods_have_as_many_trials_of_the_same_training(task: Task, student: str) -> None:
    tried = {name: candidates(student, task, name, 1) for name in ("full-model", "gce", "elr")}
    for recipes in tried.values():
        assert len(recipes) == TRIALS
        assert recipes[0].settings == {}  # those of its paper
    for three in zip(*tried.values(), strict=True):
        assert len({(one.epochs, one.learning_rate, one.weight_decay) for one in three}) == 1
    assert len({one.settings["q"] for one in tried["gce"][1:]}) == 4
    trials = [{"settings": {"a": 1}, "held_out": 0.5}, {"settings": {"a": 2}, "held_out": 0.7}]
    assert best(trials) == {"a": 2}


def test_ours_is_told_nothing_and_is_trained_as_the_commands_do(task: Task, tmp_path: Path) -> None:
    """A head has the recipe and the method of a frozen network; a table those of a table."""
    rows = pd.DataFrame({
        "text": [f"the word {place} of it" for place in range(90)], "label": ["a", "b"] * 45,
    })  # fmt: skip
    rows.to_csv(tmp_path / "texts.csv", index=False)
    student = StudentConfig(f"hf:{text_model(tmp_path / 'model')}")
    found = prepare(TrainConfig(f"{tmp_path / 'texts.csv'}", student=student))
    ours = run(task, "head", default_recipe("head", task, "mentornet-features"), 0)
    assert ours.method == found.config.method.method
    assert not ours.told.any()
    assert _recipe(found.config.optimiser) == _values(default_recipe("head", task, None))
    plain = prepare(TrainConfig("real-noise"), splits=task.splits)
    assert run(task, "mlp", default_recipe("mlp", task, None), 0).method == (
        plain.config.method.method
    )
    assert _recipe(plain.config.optimiser) == _values(default_recipe("mlp", task, None))


def _recipe(optimiser: OptimiserConfig) -> tuple[object, ...]:
    return (optimiser.epochs, optimiser.learning_rate, optimiser.weight_decay)


def _values(recipe: object) -> tuple[object, ...]:
    return tuple(vars(recipe)[name] for name in ("epochs", "learning_rate", "weight_decay"))


@pytest.mark.parametrize("row", ["ours", "verdicts", "oracle", "cleanlab"])
@pytest.mark.filterwarnings("ignore")
def test_rows_learn_and_find_wrong_labels(task: Task, row: str) -> None:
    settings = vars(default_recipe("head", task, "full-model"))
    plain = {"settings": settings, "seconds_of_tuning": 7.0}
    found = made_by(task, "head", row, 0, plain)
    assert found["accuracy"] > 0.8
    assert found["wrong"] == task.wrong.double().mean().item()
    assert found["seconds_of_tuning"] == (0 if row in ("ours", "verdicts") else 7.0)
    assert ("average_precision" in found) == (row != "oracle")
    assert found.get("average_precision", 1) > 0.8


def test_told_labels_are_not_counted_as_found(task: Task) -> None:
    made = run(task, "head", default_recipe("head", task, "mentornet-features"), 0, verdicts=40)
    assert made.told.sum() == 40
    assert (made.quality[made.told & task.wrong.numpy()] < 0.01).all()


def test_cleanlab_gets_the_same_plain_training(task: Task) -> None:
    recipe = default_recipe("head", task, "full-model")
    student = clone(Student("head", recipe, task.classes, 5)).fit(
        task.x.numpy(), task.given.numpy()
    )
    found = student.predict(task.x_test.numpy()) == task.y_test.numpy()
    assert found.mean() == pytest.approx(run(task, "head", recipe, 5).accuracy)


def test_what_is_there_is_not_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "write_page", list)
    monkeypatch.setattr(results, "RESULTS", folder / "results")
    words = ["music-one-worker", "--rows", "ours", "--seeds", "1", "--folder", f"{folder}"]
    cell = Cell("music-one-worker", "mlp", "ours", 0)
    monkeypatch.setattr(program, "cells", lambda: iter([cell]))
    program.main(words)
    assert "music-one-worker mlp ours 0 accuracy" in capsys.readouterr().out
    found = read_json(file_of(cell))
    assert (found["row"], found["method"]) == ("ours", "mentornet-early")
    assert found["conditions"]["torch"] == torch.__version__
    program.main(words)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("bad", ["nowhere", "no columns"])
def test_what_is_missing_is_said(folder: Path, bad: str) -> None:
    if bad == "nowhere":
        with pytest.raises(SystemExit, match=r"there is no .*trec\.csv: .*--folder"):
            read_task("trec", folder)
    else:
        (folder / "trec.csv").write_text("text,label\nwhy ?,DESC\n")
        with pytest.raises(SystemExit, match=r"trec\.csv has no column split; it needs label"):
            read_task("trec", folder)


def test_an_unknown_set_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["treck"])
    assert "data must be among trec, semeval" in capsys.readouterr().err


def test_the_page_and_its_picture_are_what_the_files_say(tmp_path: Path) -> None:
    assert PAGE.read_text() == render(stored())
    _, drawn = save(draw(stored()), tmp_path / "real_noise")
    assert (PAGE.parent / PICTURE).with_suffix(".svg").read_bytes() == drawn.read_bytes()


def test_whole_seeds_are_stored_and_nothing_else() -> None:
    there = [cell for cell in cells() if file_of(cell).is_file()]
    assert {file_of(cell) for cell in there} == {*results.RESULTS.glob("*.json")}
    counts = {case: len(entries["plain"].runs) for case, entries in stored().items()}
    assert [*counts] == [*CASES]
    assert sum(counts[case] * len(rows_of(case.student)) for case in CASES) == len(there)
    for cell in there:
        found = read(cell)
        assert found is not None
        assert tuple(found[name] for name in Cell._fields) == cell
        assert len(found["tried"]) == (TRIALS if cell.row in ("plain", "gce", "elr") else 0)


def test_means_are_over_seeds_that_all_rows_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    for seed, rows in ((0, rows_of("trees")), (1, ["plain", "ours"])):
        for row in rows:
            cell = Cell("music-one-worker", "trees", row, seed)
            write_json(file_of(cell), {"accuracy": 0.5 + seed / 10})
    (entries,) = stored().values()
    assert entries["plain"].accuracies == entries["oracle"].accuracies == [0.5]


def test_what_the_picture_shows() -> None:
    entry = Entry(({"accuracy": 0.5, "average_precision": 0.2}, {"accuracy": 0.7}))
    drawn = draw({CASES[0]: {"ours": entry}})
    upper, lower = drawn.axes
    dots = [line for line in upper.get_lines() if line.get_marker() == "o"]
    assert [np.asarray(line.get_xdata()).item() for line in dots] == pytest.approx([60])
    assert [label.get_text() for label in upper.get_yticklabels()] == [*ROWS.values()]
    assert 0.2 in [np.asarray(line.get_xdata())[0] for line in lower.get_lines()]
