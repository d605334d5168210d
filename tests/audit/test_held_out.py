"""Every row of a run is judged, those held out from training too."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from mentornet.audit.held_out import all_pictures, parts_of
from mentornet.audit.run_audit import audit_run
from mentornet.cli import main
from mentornet.config import FilesConfig, TrainConfig, read_config
from mentornet.data import Samples
from mentornet.data.parts import into_splits
from mentornet.randomness import generator
from mentornet.training import RunFolder, load_student, predict, prepare
from mentornet.weighting import label_posterior
from tests.data.layouts import jpeg, put

EACH = 30  # images of each class
WRONG = range(0, EACH, 5)  # those of cats whose picture is that of a dog, and the other way round


def write_photos(folder: Path, part: str = "") -> None:
    for label, name in enumerate(("cat", "dog")):
        for number in range(EACH):
            shown = 1 - label if number in WRONG else label
            content = jpeg(shown, number + 100 * label, 16, 16)
            put(folder / part / name / f"{number:02d}.jpg", content)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("held")
    write_photos(home / "photos")
    words = ["train", f"{home / 'photos'}", "--student", "small-cnn", "--width", "4"]
    words += ["--epochs", "12", "--batch-size", "16", "--validation", "0.2"]
    assert main([*words, "--out", f"{home / 'run'}"]) == 0
    return home


def test_held_out_rows_are_judged_by_predictions(trained: Path, tmp_path: Path) -> None:
    done = audit_run(trained / "run", tmp_path / "audit")
    assert done.notes == ()
    table = done.ranking.table.set_index("index").sort_index()
    assert table.index.tolist() == list(range(2 * EACH))
    assert set(table["path"]) == {f"{c}/{n:02d}.jpg" for c in ("cat", "dog") for n in range(EACH)}
    prepared = prepare(read_config(trained / "run" / "config.toml"))
    count, test = len(prepared.train), prepared.test
    assert table["held_out"].tolist() == [False] * count + [True] * (2 * EACH - count)
    part = table.iloc[count : count + len(test)]
    assert part["path"].tolist() == list(test.paths or ())
    p = predict(load_student(RunFolder(trained / "run")), test.tensor)
    right = label_posterior(p, test.given_label).right.clamp(max=1 / (1 + np.exp(-4)))
    assert part["label_quality"].to_numpy() == pytest.approx(right.numpy(), abs=1e-6)


def test_suspects_that_were_held_out_stay_in_their_part(trained: Path, tmp_path: Path) -> None:
    assert main(["audit", f"{trained / 'run'}", "--out", f"{tmp_path / 'a'}"]) == 0
    issues = pd.read_csv(tmp_path / "a" / "issues.csv")
    suspect = set(issues["index"][issues["is_label_issue"]])
    held = set(issues["index"][issues["held_out"]])
    assert suspect & held
    for name in ("cleaned.csv", "decisions.csv"):
        decided = pd.read_csv(tmp_path / "a" / name)
        assert set(decided["index"]) == suspect - held


def test_pictures_of_all_parts(trained: Path) -> None:
    prepared = prepare(read_config(trained / "run" / "config.toml"))
    parts, _ = parts_of(prepared, RunFolder(trained / "run"), brought=False)
    every = torch.cat([prepared.train.tensor, *(part.samples.tensor for part in parts)])
    asked = np.array([59, 0, 41, 58, 3, 48])
    assert np.array_equal(all_pictures(prepared, parts)(asked), every[asked].numpy())


def test_verdicts_on_held_out_rows_change_nothing(trained: Path, tmp_path: Path) -> None:
    lines = "index,decision\n0,drop\n59,drop\n"
    put(tmp_path / "verdicts.csv", lines)
    words = ["train", "--config", f"{trained / 'run' / 'config.toml'}", "--epochs", "1"]
    words += ["--verdicts", f"{tmp_path / 'verdicts.csv'}", "--out", f"{tmp_path / 'new'}"]
    assert main(words) == 0
    prepared = prepare(read_config(tmp_path / "new" / "config.toml"))
    assert len(prepared.train) == prepared.count - 1
    parts, _ = parts_of(prepared, RunFolder(tmp_path / "new"), brought=False)
    assert [part.first for part in parts] == [prepared.count, prepared.count + len(prepared.test)]


def test_parts_that_came_with_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_photos(tmp_path / "photos", "train")
    write_photos(tmp_path / "photos", "test")
    run = tmp_path / "run"
    words = ["train", f"{tmp_path / 'photos'}", "--student", "small-cnn", "--width", "4"]
    assert main([*words, "--epochs", "2", "--batch-size", "16", "--out", f"{run}"]) == 0
    assert main(["audit", f"{run}"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "the 60 test samples came with the data and are not judged; set all_parts" in said
    assert len(pd.read_csv(run / "audit" / "issues.csv")) == 2 * EACH
    assert main(["audit", f"{run}", "--overwrite", "--all-parts"]) == 0
    assert "not judged" not in capsys.readouterr().err
    issues = pd.read_csv(run / "audit" / "issues.csv")
    assert len(issues) == 4 * EACH
    assert issues["held_out"].sum() == 2 * EACH
    page = (run / "audit" / "report.html").read_text()
    assert re.search(r"60 of these samples were held out from training", page)


def test_a_run_without_a_student(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained / "run", tmp_path / "run")
    (tmp_path / "run" / "checkpoints" / "last.safetensors").unlink()
    done = audit_run(tmp_path / "run", tmp_path / "audit")
    assert done.notes == ("samples that were held out are judged when the run has ended",)
    assert "held_out" not in done.ranking.table


def test_labels_stay_with_their_samples_if_there_are_fewer() -> None:
    count = 11_000  # of which 1,100 are held out, and 1,000 are kept with a limit
    pixels = torch.randint(256, (count, 1, 8, 8), generator=generator(0)).byte()
    given = pixels[:, 0, 0, 0].long() % 2
    samples = Samples(pixels, given, ("even", "odd"), true_label=1 - given)
    config = TrainConfig("digits", files=FilesConfig(limit=100))
    prepared = prepare(config, splits=into_splits({"train": samples}))
    given, true = prepared.held_out["test"]
    assert len(prepared.test) == 1_000
    assert torch.equal(given, prepared.test.tensor[:, 0, 0, 0].long() % 2)
    assert true is not None
    assert torch.equal(true, 1 - given)
    assert torch.equal(prepared.test.given_label, true)
