"""Texts with wrong labels, from the command line: train, audit, verdicts, train again.

    python examples/texts_file.py

The texts are the beginnings of what numpy and torch say of their functions, and the label is the
library. Three in ten labels are made wrong. Then somebody looks at the first suspects of the audit
and says which are wrong (here, somebody who knows). With these verdicts the run is repeated.
"""

from __future__ import annotations

import csv
import inspect
import shlex
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import torch

from mentornet.cli import main as mentornet

LOOKED_AT = 100


def beginnings(module: ModuleType) -> list[str]:
    """Return the beginning of the docs of each function, if it has three words or more."""
    docs = (inspect.getdoc(getattr(module, name)) or "" for name in sorted(dir(module)))
    texts = (" ".join(doc.split("\n\n")[:2]).replace("\n", " ")[:200] for doc in docs)
    return sorted({text for text in texts if len(text.split()) >= 3})


def write_texts(path: Path, seed: int = 0) -> None:
    """Write a table with the columns text, label, true_label and split."""
    draw = np.random.default_rng(seed)
    rows = [(text, "numpy") for text in beginnings(np)]
    rows += [(text, "torch") for text in beginnings(torch)]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "label", "true_label", "split"])
        for text, true in rows:
            split = "train" if draw.random() < 0.8 else "test"
            other = "torch" if true == "numpy" else "numpy"
            wrong = split == "train" and draw.random() < 0.3
            table.writerow([text, other if wrong else true, true, split])


def verdicts(issues: Path, path: Path) -> None:
    """Write what somebody who knows the libraries says of the first suspects."""
    looked = pd.read_csv(issues).head(LOOKED_AT)
    is_correct = looked["given_label"] == looked["true_label"]
    looked.assign(is_correct=is_correct)[["index", "is_correct", "true_label"]].to_csv(
        path, index=False
    )


def run(*words: object) -> None:
    """Run a command of `mentornet`, and print it first."""
    line = [f"{word}" for word in words]
    print("$ mentornet", shlex.join(line))
    if mentornet(line) != 0:
        sys.exit(1)


def main(folder: Path) -> float:
    """Return the share of the suspects whose label is really wrong."""
    write_texts(folder / "texts.csv")
    first, again = folder / "first", folder / "again"
    run("train", folder / "texts.csv", "--out", first)
    run("audit", first)
    verdicts(first / "audit" / "issues.csv", folder / "verdicts.csv")
    run("train", folder / "texts.csv", "--verdicts", folder / "verdicts.csv", "--out", again)
    issues = pd.read_csv(first / "audit" / "issues.csv")
    suspects = issues[issues["is_label_issue"]]
    return float((suspects["given_label"] != suspects["true_label"]).mean())


if __name__ == "__main__":
    home = Path("runs/texts")
    home.mkdir(parents=True, exist_ok=False)
    print(f"{main(home):.0%} of the suspects are really wrong")
