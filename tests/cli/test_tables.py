"""`mentornet train`, `predict` and `audit` on tables, as a user types them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mentornet.cli import main
from mentornet.data import load_data
from mentornet.data.encoding import Texts
from tests.cli.test_train import said
from tests.data.files.test_manifest import write_csv
from tests.training.test_tables import rows, texts, vectors

QUICK = ["--epochs", "6", "--batch-size", "16"]


def train(data: Path, out: Path, *words: str) -> int:
    return main(["train", f"{data}", *QUICK, "--out", f"{out}", *words])


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mislabelled(folder: Path) -> Path:
    """Texts of which every twelfth has the wrong label, and one looks like markup and a formula."""
    lines = read(texts(folder))
    table = []
    for number, line in enumerate(lines):
        wrong = number % 12 == 0
        label = {"good": "bad", "bad": "good"}[line["label"]] if wrong else line["label"]
        text = f"=<b>{line['text']}</b>" if number == 12 else line["text"]
        table.append((text, label, line["label"], "test" if number >= 72 else "train"))
    return write_csv(folder / "noisy.csv", ["text", "label", "true_label", "split"], table)


def test_texts_from_the_file_to_the_cleaned_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, run = mislabelled(tmp_path), tmp_path / "run"
    assert train(data, run) == 0
    assert "texts of the column text" in capsys.readouterr().err
    assert main(["audit", f"{run}", "--noise-rate", "0.09"]) == 0
    printed = capsys.readouterr().out
    assert f"train {run}/audit/cleaned.csv --config {run}/config.toml" in printed
    samples = load_data(f"{data}").train
    assert isinstance(samples.raw, Texts)
    issues = read(run / "audit" / "issues.csv")
    found = {int(line["row"]) for line in issues if line["is_label_issue"] == "True"}
    assert len(found & set(range(0, 72, 12))) >= 4  # of the six that are wrong
    for line in issues:
        assert line["text"].removeprefix("'") == samples.raw.texts[int(line["index"])]
    page = (run / "audit" / "report.html").read_text(encoding="utf-8")
    assert "it was" in page
    assert "=<b>" not in page  # it is there as text only
    kept = read(run / "audit" / "cleaned.csv")
    assert len(kept) == 96 - len(found)
    again = load_data(f"{run / 'audit' / 'cleaned.csv'}")
    assert isinstance(again.train.raw, Texts)
    texts_left = [text for place, text in enumerate(samples.raw.texts) if place not in found]
    assert list(again.train.raw.texts) == texts_left
    assert len(again.test) == 24
    cleaned = [f"{run / 'audit' / 'cleaned.csv'}", "--config", f"{run / 'config.toml'}"]
    assert main(["train", *cleaned, "--out", f"{tmp_path / 'again'}"]) == 0


def test_the_cleaned_table_of_rows_has_the_same_numbers(tmp_path: Path) -> None:
    data, run = rows(tmp_path), tmp_path / "run"
    train(data, run)
    main(["audit", f"{run}", "--noise-rate", "0"])
    before, after = load_data(f"{data}"), load_data(f"{run / 'audit' / 'cleaned.csv'}")
    assert before.encoder == after.encoder
    assert (before.train.tensor == after.train.tensor).all()


def test_the_audit_of_vectors(tmp_path: Path) -> None:
    data, run = vectors(tmp_path), tmp_path / "run"
    assert train(data, run) == 0
    assert main(["audit", f"{run}", "--noise-rate", "0.1"]) == 0
    assert {"index", "row", "label_quality"} <= set(read(run / "audit" / "issues.csv")[0])
    assert set(read(run / "audit" / "cleaned.csv")[0]) >= {"index", "decision"}


def test_new_rows_are_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    train(rows(tmp_path), run)
    new = write_csv(
        tmp_path / "new.csv", ["colour", "b", "a"], [("red", -0.1, 0.1), ("pink", -2, "")]
    )
    assert main(["predict", f"{run}", f"{new}", "--out", f"{tmp_path / 'p.csv'}"]) == 0
    printed = capsys.readouterr()
    assert "categories that training has not seen count as none: 1 in 'colour'" in printed.err
    assert "2 rows" in printed.out
    found = read(tmp_path / "p.csv")
    assert [line["row"] for line in found] == ["0", "1"]
    assert [line["predicted_label"] for line in found] == ["0", "2"]
    assert sum(float(found[0][f"p_{name}"]) for name in "012") == pytest.approx(1, abs=1e-5)


def test_new_vectors_are_predicted(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(vectors(tmp_path), run)
    np.save(tmp_path / "new.npy", 4 * np.eye(5, dtype=np.float32)[:3])
    main(["predict", f"{run}", f"{tmp_path / 'new.npy'}", "--out", f"{tmp_path / 'p.csv'}"])
    assert [line["predicted_label"] for line in read(tmp_path / "p.csv")] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        (["a", "b"], (1, 2), "has no column 'colour'; Known: a, b"),
        (["a", "b", "colour"], ("x", 2, "red"), "'a' has numbers in training, but 'x' in row 0"),
        (["a", "b", "colour"], ("inf", 2, "red"), "values must be finite"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_predicted(
    header: list[str], row: tuple[object, ...], message: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run = tmp_path / "run"
    train(rows(tmp_path), run)
    new = write_csv(tmp_path / "new.csv", header, [row])
    assert main(["predict", f"{run}", f"{new}"]) != 0
    assert message in said(capsys)


def test_messages_name_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(rows(tmp_path), tmp_path / "run", "--label", "lable") != 0
    assert "has no column 'lable' for --label; did you mean 'label'?" in said(capsys)
