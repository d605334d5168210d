"""`mentornet audit` of embeddings and probabilities, with no run."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from mentornet.audit import rank_predictions
from mentornet.cli import main
from tests.audit.test_embeddings import COUNT, clouds
from tests.data.image_files import random_pixels, write_parquet

NAMES = ("ant", "bee", "cow")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with embeddings and labels, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    x, given, _ = clouds()
    np.save("x.npy", x)
    np.save("labels.npy", given)
    return tmp_path


def write_csv(file_name: str, **columns: list[object]) -> None:
    with Path(file_name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([list(columns), *zip(*columns.values(), strict=True)])


def page_of(folder: Path) -> dict[str, object]:
    text = (folder / "report.html").read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


def test_embeddings_with_labels(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", "--embeddings", "x.npy", "--labels", "labels.npy", "--classes", *NAMES]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert f"of {COUNT} labels are suspect" in said
    assert "labels without them: audit/cleaned.csv" in said
    _, given, wrong = clouds()
    issues = pd.read_csv("audit/issues.csv")
    assert len(issues) == COUNT
    assert set(issues["given_label"]) == set(NAMES)
    suspect = issues["index"][issues["is_label_issue"]]
    assert wrong[suspect].mean() > 0.9
    cleaned = pd.read_csv("audit/cleaned.csv")
    assert set(cleaned["index"]) == set(range(COUNT)) - set(suspect)
    assert [NAMES[given[row]] for row in cleaned["index"]] == cleaned["label"].tolist()
    page = page_of(here / "audit")
    assert page["known"] == {"loss": False, "weight": False}
    assert (page["curves"], page["surfaces"]) == ([], [])
    assert main(words) == 2
    assert "audit has issues.csv already; set overwrite to replace it" in capsys.readouterr().err
    assert main([*words, "--overwrite", "--relabel", "0.01"]) == 0
    relabelled = pd.read_csv("audit/cleaned.csv")
    assert len(relabelled) == COUNT
    changed = [row for row, name in relabelled[["index", "label"]].to_numpy().tolist()
               if name != NAMES[given[row]]]  # fmt: skip
    assert set(changed) == set(suspect)


def test_a_table_has_names_texts_and_true_labels(here: Path) -> None:
    x, given, _ = clouds()
    columns = {
        "embedding": x.tolist(), "label": [NAMES[label] for label in given],
        "true_label": [NAMES[row % 3] for row in range(COUNT)],
        "text": [f"text {row}" for row in range(COUNT)],
    }  # fmt: skip
    write_parquet(here / "all.parquet", columns)
    assert main(["audit", "--embeddings", "all.parquet", "--out", "found"]) == 0
    issues = pd.read_csv("found/issues.csv")
    assert issues["true_label"].tolist() == [NAMES[row % 3] for row in issues["index"]]
    texts = page_of(here / "found")["texts"]
    assert isinstance(texts, list)
    assert sorted(texts) == sorted(columns["text"])


def test_paths_become_names_and_pictures(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, given, _ = clouds()
    paths = [f"photos/{row}.png" for row in range(COUNT)]
    write_csv("labels.csv", path=[*paths], label=[NAMES[label] for label in given])
    words = ["audit", "--embeddings", "x.npy", "--labels", "labels.csv", "--overwrite"]
    assert main(words) == 0
    assert "no pictures are shown, as 240 of 240 files are not in" in " ".join(
        capsys.readouterr().err.split()
    )
    assert page_of(here / "audit")["pictures"] is None
    assert pd.read_csv("audit/issues.csv")["path"].str.startswith("photos/").all()
    (here / "photos").mkdir()
    for path in paths:
        Image.fromarray(random_pixels(8, 8)).save(path)
    assert main(words) == 0
    assert page_of(here / "audit")["pictures"] is not None


def test_verdicts_come_back(here: Path) -> None:
    words = ["audit", "--embeddings", "x.npy", "--labels", "labels.npy", "--overwrite"]
    assert main(words) == 0
    issues = pd.read_csv("audit/issues.csv")
    worst, best = int(issues["index"][0]), int(issues["index"][COUNT - 1])
    (here / "first.csv").write_text(f"index,decision\n{worst},keep\n{best},keep\n")
    (here / "later.csv").write_text(f"index,decision\n{best},drop\n")
    assert main([*words, "--verdicts", "first.csv", "later.csv"]) == 0
    again = pd.read_csv("audit/issues.csv").set_index("index")
    assert again["label_quality"][worst] == pytest.approx(1)
    assert again["label_quality"][best] == pytest.approx(0)


def test_probabilities(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, given, _ = clouds()
    p = cross_val_predict(LogisticRegression(), x, given, cv=5, method="predict_proba")
    np.savez("p.npz", probabilities=p.astype(np.float32), labels=given)
    assert main(["audit", "--probabilities", "p.npz"]) == 0
    expected = rank_predictions(p.astype(np.float32), given).table
    found = pd.read_csv("audit/issues.csv")
    assert found["index"].tolist() == expected["index"].tolist()
    assert found["label_quality"].to_numpy() == pytest.approx(expected["label_quality"].to_numpy())
    assert "probabilities" not in capsys.readouterr().err
    write_csv("names.csv", label=[NAMES[label] for label in given])
    words = ["audit", "--probabilities", "p.npz", "--labels", "names.csv", "--overwrite"]
    assert main(words) == 0
    named = pd.read_csv("audit/issues.csv")  # the columns are the sorted names
    assert named["given_label"].tolist() == [NAMES[given[row]] for row in expected["index"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "audit needs one of these: the folder of a run, --embeddings, or --probabilities"),
        (["--embeddings", "x.npy", "--probabilities", "x.npy"], "audit needs one of these"),
        (["run", "--label", "y"], "--label has no meaning for a run, which has its own labels"),
        (["--embeddings", "x.npy"], "--labels must name a file with the labels of x.npy"),
        (["--embeddings", "no.npy", "--labels", "labels.npy"], "no.npy is missing"),
        (["--embeddings", "x.npy", "--labels", "no.csv"], "no.csv is missing"),
        (["--embeddings", "x.npy", "--labels", "labels.npy", "--classes", "ant", "bee"],
         "label '2' in row"),
        (["--probabilities", "x.npy", "--labels", "labels.npy"],
         "probabilities must be finite, ≥ 0, and not all 0 in a row"),
        (["--probabilities", "x.npy", "--labels", "labels.npy", "--classes", "ant", "bee", "cow"],
         "--classes must be 12 names, one for each column; got 3"),
        (["--embeddings", "x.npy", "--labels", "labels.npy", "--noise-rate", "40"],
         "--noise-rate must be in [0, 1], got 40"),
        (["--embeddings", "x.npy", "--labels", "labels.npy", "--relabel", "40"],
         "--relabel must be a probability in (0, 1], got 40"),
    ],
)  # fmt: skip
def test_bad_input(
    words: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *words]) == 2
    assert message in capsys.readouterr().err
    assert not (here / "audit").exists()
