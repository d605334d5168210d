"""The audit as files: suspects, classes, transitions, and a cleaned list of samples."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.audit.ranking import Ranking
from mentornet.cells import csv_text
from mentornet.errors import MentorNetError
from mentornet.files import write_bytes, write_text
from mentornet.verdicts import Verdicts, verdicts_csv

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "class_table",
    "cleaning",
    "cleaning_csv",
    "names_of",
    "transitions",
    "write_tables",
]


def class_table(ranking: Ranking) -> pd.DataFrame:
    """A row a class: how many of its labels are suspect, and what they may be instead."""
    import pandas as pd

    counts, names = _confusion(ranking), names_of(ranking)
    given = ranking.evidence.given_label
    rows = []
    for label, name in enumerate(names):
        mine = given == label
        other = counts[label].copy()
        worst = int(other.argmax())
        rows.append(
            {
                "class": name,
                "samples": int(mine.sum()),
                "suspect": int(ranking.is_issue[mine].sum()),
                "ambiguous": int(ranking.is_ambiguous[mine].sum()),
                "mean_quality": float(ranking.quality[mine].mean()) if mine.any() else np.nan,
                "most_often": names[worst] if other[worst] else "",
                "times": int(other[worst]),
            }
        )
    return pd.DataFrame(rows)


def transitions(ranking: Ranking) -> NDArray[np.float64]:
    """P(given | true) as it is estimated, `(K, K)`: a suspect's true label is the suggested one."""
    counts = np.diag(np.bincount(_kept_labels(ranking), minlength=len(names_of(ranking))))
    joint = counts + _confusion(ranking).T
    totals = joint.sum(1, keepdims=True)
    return np.where(totals > 0, joint / np.maximum(totals, 1), np.eye(len(joint)))


def cleaning(ranking: Ranking, *, relabel: float | None = None) -> Verdicts:
    """What the audit would say of each suspect, as verdicts to train with.

    Args:
        ranking: the audit's estimate for every label.
        relabel: give a suspect its suggested label where that has at least this probability;
            the others, and without this all of them, are dropped.
    """
    if relabel is not None and not 0 < relabel <= 1:
        raise MentorNetError(f"relabel must be a probability in (0, 1], got {relabel:g}")
    evidence, suspect = ranking.evidence, ranking.is_issue
    sure = np.zeros_like(suspect) if relabel is None else evidence.support >= relabel
    label = np.where(sure, evidence.suggested_label, -1)[suspect]
    return Verdicts(
        torch.from_numpy(evidence.index[suspect].astype(np.int64)),
        torch.zeros(len(label), dtype=torch.bool),
        torch.from_numpy(label.astype(np.int64)),
    )


def cleaning_csv(ranking: Ranking, *, relabel: float | None = None) -> str:
    """The same as the text of a CSV file that `mentornet train --verdicts` reads."""
    evidence, places = ranking.evidence, np.flatnonzero(ranking.is_issue).tolist()
    return verdicts_csv(
        cleaning(ranking, relabel=relabel),
        evidence.given_label[places].tolist(),
        class_names=names_of(ranking),
        names=None if evidence.path is None else [evidence.path[place] for place in places],
    )


def write_tables(folder: Path, ranking: Ranking, *, relabel: float | None = None) -> list[Path]:
    """Write `issues.csv` and `.parquet`, `classes.csv`, `transitions.csv` and `decisions.csv`."""
    issues, names = ranking.table, names_of(ranking)
    chances = [
        [name, *(f"{chance:.6f}" for chance in row)]
        for name, row in zip(names, transitions(ranking).tolist(), strict=True)
    ]
    written = []
    for name, text in (
        ("issues.csv", _csv(issues)),
        ("classes.csv", _csv(class_table(ranking))),
        ("transitions.csv", csv_text([["true", *names], *chances])),
        ("decisions.csv", cleaning_csv(ranking.trained, relabel=relabel)),
    ):
        write_text(folder / name, text)
        written.append(folder / name)
    content = io.BytesIO()
    issues.to_parquet(content, index=False)
    write_bytes(folder / "issues.parquet", content.getvalue())
    return [*written, folder / "issues.parquet"]


def _csv(table: pd.DataFrame) -> str:
    columns = [table[name].tolist() for name in table.columns]
    return csv_text([table.columns, *zip(*columns, strict=True)])


def names_of(ranking: Ranking) -> Sequence[str]:
    """The class names, or numbers where there are none."""
    if ranking.classes is not None:
        return ranking.classes
    evidence = ranking.evidence
    known = (evidence.given_label, evidence.suggested_label, evidence.true_label)
    largest = max(int(labels.max()) for labels in known if labels is not None)
    return tuple(str(label) for label in range(largest + 1))


def _confusion(ranking: Ranking) -> NDArray[np.int64]:
    """How often a suspect of each given label is suggested each other one, `(K, K)`."""
    evidence, size = ranking.evidence, len(names_of(ranking))
    counts = np.zeros((size, size), np.int64)
    chosen = ranking.is_issue & (evidence.suggested_label >= 0)
    np.add.at(counts, (evidence.given_label[chosen], evidence.suggested_label[chosen]), 1)
    return counts


def _kept_labels(ranking: Ranking) -> NDArray[np.integer[Any]]:
    chosen = ranking.is_issue & (ranking.evidence.suggested_label >= 0)
    return ranking.evidence.given_label[~chosen]
