"""Write a ranking to a folder, as tables and a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mentornet.audit.page import (
    Contents,
    Curve,
    Fact,
    Pictures,
    SampleTable,
    Surface,
    write_page,
)  # fmt: skip
from mentornet.audit.ranking import Ranking
from mentornet.audit.tables import names_of, write_tables

__all__ = ["Texts", "report"]

Texts = Callable[[NDArray[np.int64]], Sequence[str]]
"""A function from the index of n samples to their texts."""


def report(
    ranking: Ranking,
    folder: Path | str,
    *,
    title: str = "Labels",
    pictures: Pictures | None = None,
    texts: Sequence[str] | Texts | None = None,
    curves: Sequence[Curve] = (),
    surfaces: Sequence[Surface] = (),
    notes: Sequence[str] = (),
    footer: str = "",
    relabel: float | None = None,
) -> Path:
    """Write the tables (`write_tables`) and `report.html`, and return the page's path.

    Args:
        ranking: the result of `rank` or `MentorLoss.audit`.
        folder: the folder for the files; those of an earlier report there are replaced.
        title: the heading of the page.
        pictures: a function from the index of samples to pictures, uint8 `(n, C, H, W)`.
        texts: texts to show in place of pictures: one for each of the ranking's N samples, in the
            order of its evidence, or a function from the index `(n,)` of samples to n texts.
        curves: the training curves.
        surfaces: the mentor's weights at its updates.
        notes: lines for the reader, in addition to the ranking's own.
        footer: how the run was made.
        relabel: the probability from which on `decisions.csv` relabels a suspect.
    """
    folder = Path(folder)
    write_tables(folder, ranking, relabel=relabel)
    contents = Contents(
        title=title, class_names=tuple(names_of(ranking)), samples=_samples(ranking),
        facts=_facts(ranking), notes=(*notes, *ranking.notes), pictures=pictures,
        texts=_texts(ranking, texts),
        curves=tuple(curves), surfaces=tuple(surfaces), footer=footer,
    )  # fmt: skip
    return write_page(folder, contents)


def _texts(ranking: Ranking, texts: Sequence[str] | Texts | None) -> Sequence[str] | None:
    return texts(ranking.evidence.index.astype(np.int64)) if callable(texts) else texts


def _samples(ranking: Ranking) -> SampleTable:
    evidence = ranking.evidence
    truth = evidence.true_label
    return SampleTable(
        index=evidence.index.astype(np.int64),
        given_label=evidence.given_label.astype(np.int64),
        suggested_label=evidence.suggested_label.astype(np.int64),
        suggested_probability=evidence.support,
        quality=ranking.quality,
        is_issue=ranking.is_issue,
        is_ambiguous=ranking.is_ambiguous,
        mean_weight=evidence.mean_weight,
        trajectory=evidence.trajectory,
        name=evidence.path,
        true_label=None if truth is None else truth.astype(np.int64),
    )


def _facts(ranking: Ranking) -> tuple[Fact, ...]:
    count, wrong = len(ranking.quality), ranking.wrong
    held_out = ranking.evidence.held_out
    about = "samples, each with a given label"
    if held_out is not None:
        about = f"{int(held_out.sum()):,} of these samples were held out from training"
    facts = [
        Fact("labels", f"{count:,}", about),
        Fact("suspect", f"{int(ranking.is_issue.sum()):,}", "labels that are probably wrong"),
        Fact(
            "estimated wrong", f"{wrong.count:,}",
            f"{wrong.low:,} to {wrong.high:,} are plausible",
        ),
        Fact(
            "ambiguous", f"{int(ranking.is_ambiguous.sum()):,}",
            "two labels are nearly tied, or the student came to agree",
        ),
    ]  # fmt: skip
    truth = ranking.evidence.true_label
    if truth is not None:
        really = truth != ranking.evidence.given_label
        hits = int((ranking.is_issue & really).sum())
        note = f"{hits:,} of them are suspect, as the true labels are known"
        facts.append(Fact("really wrong", f"{int(really.sum()):,}", note))
    return tuple(facts)
