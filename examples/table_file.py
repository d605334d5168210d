"""A table with wrong labels, from the command line: train, audit, train again, predict.

    python examples/table_file.py

Three in ten labels of a CSV file are made wrong, and a few cells are emptied. `mentornet train`
learns from the file, and `mentornet audit` lists the labels that are probably wrong. The audit's
`cleaned.csv` is the table without them. The command lines are printed; you can type them as well.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from mentornet.cli import main as mentornet


def write_table(folder: Path, seed: int = 0) -> pd.DataFrame:
    """Write `table.csv`, whose training rows have wrong labels, and `new.csv`; return the table."""
    draw = np.random.default_rng(seed)
    table = load_breast_cancer(as_frame=True).frame
    names = np.array(["malignant", "benign"])
    true = table.pop("target").to_numpy()
    table = table.mask(draw.random(table.shape) < 0.02)  # empty cells
    table["split"] = np.where(draw.random(len(table)) < 0.7, "train", "test")
    wrong = (draw.random(len(table)) < 0.3) & (table["split"] == "train")
    table["diagnosis"] = names[np.where(wrong, 1 - true, true)]
    table.to_csv(folder / "table.csv", index=False)
    table.drop(columns=["diagnosis", "split"]).tail(5).to_csv(folder / "new.csv", index=False)
    return table.assign(true=names[true], wrong=wrong)


def run(*words: object) -> None:
    """Run a command of `mentornet`, and print it first."""
    line = [f"{word}" for word in words]
    print("$ mentornet", shlex.join(line))
    if mentornet(line) != 0:
        sys.exit(1)


def main(folder: Path) -> float:
    """Return the share of suspects whose label is really wrong."""
    table = write_table(folder)
    first, again = folder / "first", folder / "again"
    run("train", folder / "table.csv", "--label", "diagnosis", "--out", first)
    run("audit", first)
    run("train", first / "audit" / "cleaned.csv", "--config", first / "config.toml", "--out", again)
    run("predict", again, folder / "new.csv", "--out", folder / "predictions.csv")
    issues = pd.read_csv(first / "audit" / "issues.csv")
    suspects = table.iloc[issues["row"][issues["is_label_issue"]]]
    found = float(suspects["wrong"].mean())
    print(f"{len(suspects)} suspects, of which {found:.0%} are really wrong")
    print(pd.read_csv(folder / "predictions.csv").assign(true=table["true"].tail(5).to_numpy()))
    return found


if __name__ == "__main__":
    home = Path("runs/table")
    home.mkdir(parents=True, exist_ok=False)
    main(home)
