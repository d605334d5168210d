"""Audit the labels of a run, from its folder to tables and a page."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from mentornet.audit.cleaned_table import cleaned_table
from mentornet.audit.evidence import RunEvidence, by_weights, evidence_of
from mentornet.audit.held_out import Part, parts_of, shown_of_all, with_parts
from mentornet.audit.output import Audited, check_free
from mentornet.audit.ranking import Ranking, rank
from mentornet.audit.report import report
from mentornet.audit.run_contents import curves_of, surfaces_of, with_names
from mentornet.audit.tables import cleaning, cleaning_csv
from mentornet.cells import csv_text
from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    TrainConfig,
    own_code,
    read_config,
    read_trusted,
)
from mentornet.data.files.label_file import label_keys, read_labels
from mentornet.data.progress import Progress
from mentornet.data.stream.shards import has_shards
from mentornet.errors import MentorNetError
from mentornet.files import reading, write_text
from mentornet.methods import Method, make_method
from mentornet.methods.settings import parse_settings
from mentornet.records import columns_of, read_losses
from mentornet.training.preparation import Prepared, prepare
from mentornet.training.run_folder import RunFolder
from mentornet.verdicts import Verdicts

__all__ = ["audit_run"]

_WITHOUT = "samples are not shown, and those that were held out are not judged"
_KNOWS = 0.4  # share of given labels that the student must predict before it can be trusted


def audit_run(
    run: Path,
    out: Path | None = None,
    *,
    relabel: float | None = None,
    noise_rate: float | None = None,
    overwrite: bool = False,
    on_progress: Progress | None = None,
    trust_code: bool = False,
    all_parts: bool = False,
) -> Audited:
    """Rank the labels of a run, and write tables and a page.

    Args:
        run: the folder of the run, which need not have ended.
        out: the folder to write to; `RUN/audit` by default.
        relabel: the probability from which on a suspect is relabelled in the cleaned data.
        noise_rate: the share of wrong labels, if it is known; by default it is estimated.
        overwrite: whether to replace an earlier audit.
        on_progress: called while images are read.
        trust_code: whether a student or a method that the run's config names as `module:factory`
            may be imported, which runs its code.
        all_parts: whether test and validation samples that came with the data are judged too. Those
            that were taken from the training samples are always judged.
    """
    folder = RunFolder(run)
    if not folder.config.is_file():
        raise MentorNetError(f"{run} is not a run: it has no {folder.config.name}")
    config = read_trusted(folder.config, trust_code=trust_code)
    out = run / "audit" if out is None else out
    check_free(out, overwrite=overwrite)
    evidence, notes = _evidence(folder)
    if _method(config).judges:
        evidence = by_weights(evidence)
    classes = folder.about().classes
    prepared, moved = _data(folder, on_progress)
    notes += moved
    parts: list[Part] = []
    if prepared is not None:
        parts, left = parts_of(prepared, folder, brought=all_parts)
        evidence, notes = with_names(evidence, prepared), notes + left
        evidence = with_parts(evidence, parts, folder)
    rows = folder.read_metrics() if folder.metrics.is_file() else []
    share, plausible = _noise_rate(rows, prepared) if noise_rate is None else (noise_rate, None)
    ranking = rank(evidence, classes=classes, noise_rate=share, plausible=plausible)
    if rows and rows[-1]["train_accuracy"] < _KNOWS:
        notes.append(
            f"the student predicts only {rows[-1]['train_accuracy']:.0%} of the given labels, so "
            "it is too early to say which are wrong"
        )
    pictures, texts = shown_of_all(prepared, parts, ranking.evidence.index)
    report(
        ranking, out, title=f"Labels of {config.data}", pictures=pictures, texts=texts,
        curves=curves_of(rows), surfaces=surfaces_of(folder), notes=notes, relabel=relabel,
        footer=f"{config.method.method}, {len(rows)} epochs, seed {config.seed}",
    )  # fmt: skip
    retrain = _write_cleaned(out, folder, ranking.trained, prepared, relabel)
    return Audited(ranking, out, (*notes, *ranking.notes), retrain)


def _evidence(folder: RunFolder) -> tuple[RunEvidence, list[str]]:
    """Read the records; if the run has not ended, what it has written so far."""
    if folder.records.is_file():
        return evidence_of(folder.records), []
    count = folder.about().train_images
    columns: dict[str, Any] = {
        name: read_labels(folder.labels, name, count=count).numpy()
        for name in label_keys(folder.labels)
    }
    notes: list[str] = []
    losses = read_losses(folder.trajectories, len(columns["given_label"]), notes)
    done = losses.shape[1]
    if not done:
        raise MentorNetError(f"{folder.path} has not ended an epoch yet; there is nothing to audit")
    columns["loss"] = losses
    state = folder.checkpoints.peek()
    if state is not None:
        with reading(folder.checkpoints.folder, "as checkpoints"):
            columns |= columns_of(state["records"])
    epochs = read_config(folder.config).optimiser.epochs
    of = f" of {epochs}" if epochs else ""
    note = f"the run has not ended; this audit is based on {done}{of} epochs"
    return evidence_of(columns), [note, *notes]


def _noise_rate(
    rows: list[dict[str, Any]], prepared: Prepared | None
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the run's own estimate of the share of wrong labels, and the plausible range.

    Verified samples that were drawn at random give the best estimate. (A user's own list may have
    been picked in any way.) Without them, a method that is told nothing has estimated the share.
    """
    drawn = prepared is not None and prepared.config.labels.clean_count is not None
    if prepared is not None and drawn and prepared.verdicts is not None:
        count = len(prepared.verdicts.index)
        share = 1 - prepared.verdicts.is_correct.double().mean().item()
        error = 2 * math.sqrt(max(share * (1 - share), 1 / count) / count)
        return share, (max(0.0, share - error), min(1.0, share + error))
    return (rows[-1].get("noise_rate") if rows else None), None


def _data(folder: RunFolder, on_progress: Progress | None) -> tuple[Prepared | None, list[str]]:
    """Load the data of the run; None, and a note, if it is missing or has changed."""
    try:
        prepared = prepare(read_config(folder.config), on_progress=on_progress)
    except (MentorNetError, OSError) as error:
        return None, [f"{_WITHOUT}: {error}"]
    if prepared.digest != folder.about().digest:
        return None, [f"{_WITHOUT}: the data has changed since the run began"]
    return prepared, []


# The cleaned data.


def _write_cleaned(
    out: Path,
    folder: RunFolder,
    ranking: Ranking,
    prepared: Prepared | None,
    relabel: float | None,
) -> str:
    """Write `cleaned.csv`: a table of the samples if they are labelled as they came, or verdicts.

    Returns:
        The arguments of `mentornet` that train on it, with the settings of the run.
    """
    config = read_config(folder.config)
    trust = " --trust-code" if own_code(config) else ""  # or this audit had not begun
    path, settings = out / "cleaned.csv", shlex.quote(f"{folder.config}")
    asked = config.files
    plain = FilesConfig(
        image_size=asked.image_size, skip_bad=asked.skip_bad, text=asked.text, label=asked.label
    )
    as_it_came = replace(asked, stream=False) == plain and config.labels == LabelsConfig()
    text = None
    if prepared is not None and as_it_came and _source(config) is not None:
        text = _listed(prepared, _source(config), cleaning(ranking, relabel=relabel))
    if text is None:
        write_text(path, cleaning_csv(ranking, relabel=relabel))
        files = " ".join(shlex.quote(f"{file}") for file in (*config.labels.verdicts, path))
        method = _method_for_guesses(config)
        return f"train --config {settings}{trust}{method} --verdicts {files}"
    write_text(path, text)
    return f"train {shlex.quote(f'{path}')} --config {settings}{trust}"


def _method_for_guesses(config: TrainConfig) -> str:
    """Options for a run that learned from verdicts: it must not learn from its own audit.

    What the audit suspects is then left out or relabelled, as are the labels that people found
    wrong, and mentornet-auto weighs the rest. A method that need not learn from verdicts does not
    do so without some on correct labels, which an audit does not give.
    """
    needs, labels = _method(config).needs.verdicts, config.labels
    told = bool(labels.verdicts) or labels.clean_count is not None
    if needs == "no" or (needs == "optional" and not told):
        return ""
    count = " --clean-count None" if config.labels.clean_count is not None else ""
    return f" --method mentornet-auto --set{count}"


def _method(config: TrainConfig) -> Method:
    return make_method(config.method.method or "", **parse_settings(config.method.set))


def _source(config: TrainConfig) -> Path | None:
    """Where paths of samples start from, if they are files or rows."""
    where = Path(config.data)
    if not where.exists() or (where.is_dir() and has_shards(where)):
        return None
    return where if where.is_dir() else where.parent


def _listed(prepared: Prepared, root: Path | None, verdicts: Verdicts) -> str | None:
    """Every sample that is left, as a table to train on; None if no table can hold them."""
    if prepared.train.kind == "images":
        return None if prepared.train.paths is None else _manifest(prepared, root, verdicts)
    return cleaned_table(prepared, verdicts)


def _manifest(prepared: Prepared, root: Path | None, verdicts: Verdicts) -> str:
    """Every image that is left, with its label, its part and, if it is known, its true label."""
    assert root is not None
    right = dict(zip(verdicts.index.tolist(), verdicts.true_label.tolist(), strict=True))
    rows = [("path", "label", "split", "true_label")]
    parts = (("train", prepared.train), ("val", prepared.validation), ("test", prepared.test))
    for split, images in parts:
        if images is None:
            continue
        for index, path in enumerate(images.paths or ()):
            number = int(images.given_label[index])
            number = right.get(index, number) if split == "train" else number
            if number < 0:
                continue
            label = images.classes[number]
            truth = images.true_label
            known = "" if truth is None else images.classes[int(truth[index])]
            place = (root / path).absolute().as_posix()
            rows.append((place, label, split, known))
    return csv_text(rows)
