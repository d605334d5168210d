"""Audit embeddings or predicted probabilities: from files with labels to tables and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.audit.embeddings import rank_embeddings
from mentornet.audit.output import Audited, check_free
from mentornet.audit.page import Pictures
from mentornet.audit.predictions import rank_predictions
from mentornet.audit.ranking import Ranking
from mentornet.audit.report import report
from mentornet.audit.run_contents import pictures_of
from mentornet.audit.tables import cleaning
from mentornet.cells import csv_text
from mentornet.data import Samples
from mentornet.data.files.label_table import LabelTable, numbered_labels, read_label_table
from mentornet.data.files.vector_file import read_vectors
from mentornet.data.stream.streamed import LooseFiles
from mentornet.errors import MentorNetError
from mentornet.files import write_text
from mentornet.verdicts import Verdicts, read_verdicts

__all__ = ["DataAudit"]

_THUMBNAIL = 96  # side in pixels
_BESIDE = (".parquet", ".npz")  # files of vectors that may hold the labels too


@dataclass(frozen=True)
class DataAudit:
    """An audit of labels for which there was no training run.

    Args:
        out: the folder to write to.
        labels: a file of labels, in the order of the samples; by default they are in the file of
            the embeddings or probabilities, if that is a Parquet or `.npz` file.
        label: the name of the column or array with the labels.
        classes: the class names in order, for labels that are numbers.
        verdicts: files that say what people found of some labels; later files replace earlier ones.
        relabel: the probability from which on a suspect is relabelled in the cleaned labels.
        noise_rate: the share of wrong labels, if it is known; by default it is estimated.
        overwrite: whether to replace an earlier audit.
    """

    out: Path
    labels: Path | None = None
    label: str | None = None
    classes: Sequence[str] | None = None
    verdicts: Sequence[Path] = ()
    relabel: float | None = None
    noise_rate: float | None = None
    overwrite: bool = False

    def of_embeddings(self, source: Path) -> Audited:
        """Rank labels by the embeddings of their samples, and write tables and a page.

        Args:
            source: a file of vectors, one for each sample.
        """
        check_free(self.out, overwrite=self.overwrite)
        vectors = read_vectors(source).numpy()
        told = self._told(source, len(vectors), None)
        ranking = rank_embeddings(
            vectors, told.given, classes=told.classes, noise_rate=self.noise_rate,
            verdicts=told.verdicts,
        )  # fmt: skip
        footer = "judged by a logistic regression that was not trained on the sample"
        return self._write(ranking, told, title=source.name, footer=footer)

    def of_probabilities(self, source: Path) -> Audited:
        """Rank labels by predicted probabilities, and write tables and a page.

        Args:
            source: a file with the probabilities of all classes for each sample, predicted by
                classifiers that were not trained on it. The columns are the classes by number; if
                the labels are names, they are the classes sorted by name, as in scikit-learn.
        """
        check_free(self.out, overwrite=self.overwrite)
        p = read_vectors(source)
        told = self._told(source, len(p), p.shape[1])
        ranking = rank_predictions(
            p, told.given, classes=told.classes, noise_rate=self.noise_rate, verdicts=told.verdicts
        )
        return self._write(ranking, told, title=source.name, footer=f"judged by {source.name}")

    def _told(self, source: Path, count: int, width: int | None) -> _Told:
        """Read what is told of the samples; `width` is the number of classes, if it is known."""
        if self.labels is None and source.suffix.lower() not in _BESIDE:
            raise MentorNetError(
                f"labels must name a file with the labels of {source}, such as labels.csv"
            )
        file = source if self.labels is None else self.labels.expanduser()
        table = read_label_table(file, self.label, count=count)
        true, classes = table.true_label or (), self.classes
        if classes is not None and width not in (None, len(classes)):
            raise MentorNetError(
                f"classes must be {width} names, one for each column; got {len(classes)}"
            )
        if classes is None and width is not None:
            classes = _columns([*table.label, *true], width)
        given, names = numbered_labels(table.label, classes, more=true)
        known = numbered_labels(true, names)[0].numpy() if true else None
        said = _verdicts(self.verdicts, given, names, table.path)
        return _Told(file, table, given.numpy(), names, known, said)

    def _write(self, ranking: Ranking, told: _Told, *, title: str, footer: str) -> Audited:
        """Write the tables, the page and the cleaned labels."""
        paths = told.table.path
        evidence = replace(ranking.evidence, path=paths, true_label=told.true, text=told.table.text)
        ranking = replace(ranking, evidence=evidence)
        notes = [] if paths is None else _missing(paths, told.file)
        report(
            ranking, self.out, title=f"Labels of {title}",
            pictures=_pictures(told) if paths is not None and not notes else None,
            texts=told.table.text, relabel=self.relabel, footer=footer,
        )  # fmt: skip
        write_text(self.out / "cleaned.csv", _cleaned(ranking, self.relabel))
        return Audited(ranking, self.out, (*notes, *ranking.notes))


@dataclass(frozen=True, eq=False)
class _Told:
    """What is told of N samples: the file it is in, its columns, and the labels as numbers."""

    file: Path
    table: LabelTable
    given: NDArray[np.int64]
    classes: tuple[str, ...]
    true: NDArray[np.int64] | None
    verdicts: Verdicts | None


def _columns(labels: Sequence[str], width: int) -> tuple[str, ...]:
    """Return the names of the classes in the order of the columns of probabilities."""
    numbers = tuple(f"{place}" for place in range(width))
    if set(labels) <= set(numbers):
        return numbers
    names = numbered_labels(labels)[1]
    if len(names) != width:
        raise MentorNetError(
            f"there are probabilities of {width} classes, and labels of {len(names)}; give the "
            "names of all of them, in the order of the columns, in the setting classes"
        )
    return names


def _verdicts(
    files: Sequence[Path], given: Tensor, names: tuple[str, ...], paths: Sequence[str] | None
) -> Verdicts | None:
    said: Verdicts | None = None
    for file in files:
        new = read_verdicts(file, given_label=given, class_names=names, paths=paths, earlier=said)
        said = new if said is None else said.followed_by(new)[0]
    return said


def _missing(paths: Sequence[str], beside: Path) -> list[str]:
    """Return a note if the samples are not images that can be shown."""
    missing = [path for path in paths if not (beside.parent / path).is_file()]
    if not missing:
        return []
    return [
        f"no pictures are shown, as {len(missing):,} of {len(paths):,} files are not in "
        f"{beside.parent}, the folder of {beside.name}"
    ]


def _pictures(told: _Told) -> Pictures:
    paths = tuple(told.table.path or ())
    files = LooseFiles(told.file.parent.absolute(), list(paths), _THUMBNAIL)
    return pictures_of(Samples(files, torch.from_numpy(told.given), told.classes, paths=paths))


def _cleaned(ranking: Ranking, relabel: float | None) -> str:
    """Return the number, the name and the label of each sample that is left."""
    verdicts, evidence = cleaning(ranking, relabel=relabel), ranking.evidence
    right = dict(zip(verdicts.index.tolist(), verdicts.true_label.tolist(), strict=True))
    named = ["path"] if evidence.path is not None else []
    rows: list[list[object]] = [["index", *named, "label"]]
    assert ranking.classes is not None
    for row, given in enumerate(evidence.given_label.tolist()):
        label = right.get(row, given)
        if label >= 0:
            name = [] if evidence.path is None else [evidence.path[row]]
            rows.append([row, *name, ranking.classes[label]])
    return csv_text(rows)
