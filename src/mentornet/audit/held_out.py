"""Judge the samples that were held out from training, by what the trained student predicts.

The student has not seen these samples, so its predictions are honest. For each part by itself,
`label_posterior` turns them into the probability r that a label is correct. Its log-odds
log(r / (1 − r)) stand beside the margins of the samples that were trained on. Both are the
logarithm of the odds of the given label against others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.audit.evidence import RunEvidence
from mentornet.audit.page import Pictures
from mentornet.audit.run_contents import pictures_of, shown_of
from mentornet.data import HeldOut, Samples
from mentornet.data.encoding import Texts
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.records import MAX_MARGIN
from mentornet.training.prediction import load_student, predict
from mentornet.training.preparation import Prepared
from mentornet.training.run_folder import RunFolder
from mentornet.weighting import label_posterior

__all__ = ["Part", "all_pictures", "parts_of", "shown_of_all", "with_parts"]

_SURE = 1e-12  # how far a probability stays from 0 and 1


class Part(NamedTuple):
    """Samples that were not trained on.

    Attributes:
        name: "test", "validation" or another name of a part.
        samples: the samples.
        labels: their labels.
        first: the number of the first of them; those of the training samples are below.
    """

    name: str
    samples: Samples
    labels: HeldOut
    first: int


def parts_of(
    prepared: Prepared, folder: RunFolder, *, brought: bool
) -> tuple[list[Part], list[str]]:
    """Return the parts to judge, and notes on those that are not judged.

    Args:
        prepared: the data of the run.
        folder: the folder of the run, which has a student if it has ended.
        brought: whether parts that came with the data are judged too. Nobody said that their labels
            are as noisy as those of the training samples.
    """
    parts, notes, first = [], [], prepared.count
    there = {"test": prepared.test, "validation": prepared.validation, **prepared.further}
    for name, samples in there.items():
        if samples is None:
            continue
        labels = prepared.held_out.get(name)
        if labels is not None or brought:
            came = HeldOut(samples.given_label, samples.true_label)
            parts.append(Part(name, samples, labels or came, first))
        else:
            notes.append(
                f"the {len(samples):,} {name} samples came with the data and are not judged; set "
                "all_parts to judge them too"
            )
        first += len(samples)
    if parts and not folder.last.is_file():
        return [], [*notes, "samples that were held out are judged when the run has ended"]
    return parts, notes


def with_parts(evidence: RunEvidence, parts: list[Part], folder: RunFolder) -> RunEvidence:
    """Return the evidence with the samples of these parts at its end.

    Args:
        evidence: of the samples that were trained on.
        parts: what `parts_of` returns.
        folder: the folder of the run.
    """
    if not parts:
        return evidence
    student = load_student(folder, trust_code=True)  # the audit has asked before
    found = [evidence]
    for part in parts:
        fetcher = Fetcher(default_workers(), skip_bad=True) if part.samples.streamed else None
        p = predict(student, part.samples.inputs, fetcher=fetcher)
        found.append(_judged(part, p, evidence))
    count = len(evidence)
    joined = _joined(found)
    return replace(joined, held_out=np.arange(len(joined)) >= count)


def _judged(part: Part, probabilities: Tensor, beside: RunEvidence) -> RunEvidence:
    """Return the evidence of a part, with the columns that `beside` has."""
    samples, (given, true) = part.samples, part.labels
    count = len(given)
    posterior = label_posterior(probabilities, given)
    right = posterior.right.clamp(_SURE, 1 - _SURE)
    unknown, none = np.full(count, np.nan), np.zeros(count, np.int64)
    names = samples.paths or tuple(f"{part.name} {place}" for place in range(count))
    return RunEvidence(
        index=part.first + np.arange(count),
        given_label=given.numpy(),
        margin=(right / (1 - right)).log().clamp(max=MAX_MARGIN).numpy(),
        suggested_label=posterior.suggested.numpy(),
        support=posterior.true.amax(1).numpy(),
        mean_weight=unknown,
        trajectory=np.full((count, beside.trajectory.shape[1]), np.nan, np.float32),
        learned_epoch=none,
        forgotten=none,
        path=None if beside.path is None else names,
        row=None if samples.row is None else samples.row.numpy(),
        text=samples.raw.texts if isinstance(samples.raw, Texts) else None,
        true_label=None if beside.true_label is None else (given if true is None else true).numpy(),
    )


def _joined(parts: list[RunEvidence]) -> RunEvidence:
    columns: dict[str, Any] = {}
    for name in vars(parts[0]):
        values = [getattr(part, name) for part in parts]
        if name in ("path", "text") and values[0] is not None:
            columns[name] = [text for names in values for text in names]
        else:
            columns[name] = None if values[0] is None else np.concatenate(values)
    return RunEvidence(**columns)


def shown_of_all(
    prepared: Prepared | None, parts: list[Part], index: NDArray[np.integer[Any]]
) -> tuple[Pictures | None, list[str] | None]:
    """Return what the page shows of the samples with these numbers: pictures, or else texts.

    Args:
        prepared: the data of the run, if it is known.
        parts: those that were judged besides the training samples.
        index: the numbers of the samples, in rising order.
    """
    if prepared is None:
        return None, None
    if prepared.train.kind == "images":
        return all_pictures(prepared, parts), None
    _, texts = shown_of(prepared, index[index < prepared.count])
    if texts is None:
        return None, None
    for part in parts:
        known = None if part.samples.raw is None else part.samples.raw.shown()
        mine = index[(index >= part.first) & (index < part.first + len(part.samples))]
        texts += ["" if known is None else known[number - part.first] for number in mine.tolist()]
    return None, texts


def all_pictures(prepared: Prepared, parts: list[Part]) -> Pictures:
    """Return a function that finds the pictures of all samples, those of the parts included."""
    readers = [pictures_of(prepared.train, prepared.samples)]
    for part in parts:
        numbers = torch.arange(part.first, part.first + len(part.samples))
        readers.append(pictures_of(part.samples, numbers))
    starts = np.array([0, *(part.first for part in parts)])

    def seen(index: NDArray[np.int64]) -> NDArray[np.uint8]:
        which = np.searchsorted(starts, index, side="right") - 1
        found = {at: readers[at](index[which == at]) for at in np.unique(which).tolist()}
        pictures = np.empty((len(index), *next(iter(found.values())).shape[1:]), np.uint8)
        for at, some in found.items():
            pictures[which == at] = some
        return pictures

    return seen
