"""Rank labels by how likely they are wrong, and estimate how many are wrong.

The score of a label is its mean margin over training, m = Σ w mₜ / Σ w. The margin mₜ says how far
the student preferred the given label to the best other class when it saw the sample; it is at most
4, because a larger one only says how often the sample was seen. A correct label is learned early,
because other samples of its class teach it. A wrong label contradicts what they teach, so it is
learned late, or never if the mentor leaves it out. A mean needs no threshold in a single epoch, and
one bad epoch does little harm. The weight w says how firm the student was then (`firmness`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.audit.evidence import RunEvidence, evidence_of
from mentornet.errors import MentorNetError
from mentornet.weighting.two_gaussians import share_of_lower

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Ranking", "Wrong", "rank"]

_TIE = 1 / 3, 2 / 3
"""A quality between these is a near-tie: the odds of the two labels lie between 1:2 and 2:1."""

_UNSURE = 0.2, 0.02
"""How far the share of wrong labels may be from its estimate: a part of it, plus a constant."""


@dataclass(frozen=True)
class Wrong:
    """The estimated number of wrong labels.

    Attributes:
        count: the estimate.
        low: the lower end of the plausible range.
        high: its upper end.
    """

    count: int
    low: int
    high: int


@dataclass(frozen=True)
class Ranking:
    """What the audit says of the label of every sample that was seen, `(N,)` each.

    Attributes:
        evidence: what the ranking is made from.
        quality: 1/(1 + e^(−m)) in [0, 1], where m is the margin; 0 is surely wrong.
        is_issue: whether the label is suspect, which means probably wrong.
        is_ambiguous: whether two labels are nearly tied, or the student came to agree. If nothing
            was predicted, as of texts, there is no second label.
        threshold: the quality at or below which labels are suspect.
        wrong: the estimated number of wrong labels.
        classes: the class names, if they are known.
        notes: lines that the user should read.
    """

    evidence: RunEvidence
    quality: NDArray[np.float64]
    is_issue: NDArray[np.bool_]
    is_ambiguous: NDArray[np.bool_]
    threshold: float
    wrong: Wrong
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """A data frame with a row for each sample, worst first, with cleanlab's column names.

        The columns are `index`, `sample` and `place` if the records are of parts of samples, `row`
        and `path` if samples have one, `is_label_issue`, `label_quality`, `given_label`,
        `predicted_label`, `predicted_probability`, `is_ambiguous`, `mean_weight`, `learned_epoch`,
        `forgotten`, `held_out` if some samples were not trained on, `true_label` if it is known,
        and `text` if samples are texts. Labels are class names if these are known, else numbers.
        """
        import pandas as pd

        evidence = self.evidence
        columns: dict[str, Any] = {"index": evidence.index}
        for name in ("sample", "place", "row"):
            if getattr(evidence, name) is not None:
                columns[name] = getattr(evidence, name)
        if evidence.path is not None:
            columns["path"] = list(evidence.path)
        columns["is_label_issue"] = self.is_issue
        columns["label_quality"] = self.quality
        columns["given_label"] = self._named(evidence.given_label)
        columns["predicted_label"] = self._named(evidence.suggested_label)
        columns["predicted_probability"] = evidence.support
        columns["is_ambiguous"] = self.is_ambiguous
        columns["mean_weight"] = evidence.mean_weight
        columns["learned_epoch"] = evidence.learned_epoch
        columns["forgotten"] = evidence.forgotten
        if evidence.held_out is not None:
            columns["held_out"] = evidence.held_out
        if evidence.true_label is not None:
            columns["true_label"] = self._named(evidence.true_label)
        if evidence.text is not None:
            columns["text"] = list(evidence.text)
        order = np.lexsort((self.quality, ~self.is_issue))
        return pd.DataFrame(columns).iloc[order].reset_index(drop=True)

    @property
    def trained(self) -> Ranking:
        """The part of the ranking that is about samples that were trained on."""
        held_out = self.evidence.held_out
        if held_out is None:
            return self
        return replace(
            self, evidence=self.evidence.rows(~held_out), quality=self.quality[~held_out],
            is_issue=self.is_issue[~held_out], is_ambiguous=self.is_ambiguous[~held_out],
        )  # fmt: skip

    def _named(self, label: Any) -> Any:
        if self.classes is None:
            return label
        names = np.array([*self.classes, ""], object)
        return names[label]


def rank(
    records: Any,
    *,
    classes: Sequence[str] | None = None,
    noise_rate: float | None = None,
    plausible: tuple[float, float] | None = None,
    paths: Sequence[str] | None = None,
    places: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None,
) -> Ranking:
    """Rank every label by the records of training.

    Where there was no training, see `rank_embeddings` and `rank_predictions`.

    Args:
        records: the path of a run's `records.parquet`, the `Records` of a `MentorLoss`, or a table
            with `given_label` and `loss` (a list of losses for each sample); see `evidence_of`.
        classes: the class names.
        noise_rate: the share of wrong labels, if it is known. By default two normal distributions
            are fitted to the margins, and the share of the lower one is used.
        plausible: the lowest and highest share that is plausible. By default this is a fifth of the
            share, two percentage points and two standard errors to either side.
        paths: the names of all samples by their number, such as those of their files.
        places: if records are of parts of samples, such as tokens: the function from their numbers,
            `(N,)`, to the sample of each and its place in it.
    """
    evidence = evidence_of(records) if not isinstance(records, RunEvidence) else records
    if places is not None:
        sample, place = places(torch.from_numpy(evidence.index))
        evidence = replace(evidence, sample=sample.cpu().numpy(), place=place.cpu().numpy())
    if noise_rate is not None and not 0 <= noise_rate <= 1:
        raise MentorNetError(f"noise_rate must be in [0, 1], got {noise_rate:g}")
    if plausible is not None and not 0 <= plausible[0] <= plausible[1] <= 1:
        raise MentorNetError(f"plausible must be two rising shares in [0, 1], got {plausible}")
    if paths is not None:
        index = evidence.index if evidence.sample is None else evidence.sample
        evidence = replace(evidence, path=_named(index, paths))
    names = None if classes is None else tuple(classes)
    _check_labels(evidence, names)
    notes = []
    seen = np.isfinite(evidence.margin)
    if not seen.any():
        raise MentorNetError("no sample has a finite loss; was anything trained?")
    if not seen.all():
        notes.append(
            f"{int((~seen).sum())} of {len(seen)} samples were never seen, so they are left out"
        )
        evidence = evidence.rows(seen)
    quality = 1 / (1 + np.exp(-evidence.margin))
    share = share_of_lower(torch.tensor(evidence.margin)) if noise_rate is None else noise_rate
    count = round(share * len(quality))
    threshold = float(np.partition(quality, count - 1)[count - 1]) if count else 0.0
    low = quality <= threshold if count else np.zeros(len(quality), bool)
    tied = (quality > _TIE[0]) & (quality < _TIE[1]) & (evidence.suggested_label >= 0)
    doubted = evidence.suggested_label != evidence.given_label
    is_issue = low & doubted & ~tied
    return Ranking(
        evidence, quality, is_issue, tied | (low & ~doubted), threshold,
        _wrong(share, plausible, len(quality)),
        names, tuple(notes),
    )  # fmt: skip


def _named(index: NDArray[np.integer[Any]], paths: Sequence[str]) -> list[str]:
    most = int(index.max())
    if most >= len(paths):
        raise MentorNetError(
            f"paths has {len(paths):,} names, but there is a sample {most}; give one for each"
        )
    return [f"{paths[number]}" for number in index.tolist()]


def _wrong(share: float, plausible: tuple[float, float] | None, count: int) -> Wrong:
    if plausible is None:
        error = 2 * math.sqrt(max(share * (1 - share), 0.01) / count)
        unsure = _UNSURE[0] * share + _UNSURE[1] + error
        plausible = max(0.0, share - unsure), min(1.0, share + unsure)
    low, high = plausible
    return Wrong(round(share * count), math.floor(low * count), math.ceil(high * count))


def _check_labels(evidence: RunEvidence, classes: tuple[str, ...] | None) -> None:
    for name in ("given_label", "true_label", "suggested_label"):
        column = getattr(evidence, name)
        if column is None or not len(column):
            continue
        least = -1 if name == "suggested_label" else 0
        if column.min() < least:
            raise MentorNetError(f"{name} must be ≥ {least}, got {column.min()}")
        if classes is not None and column.max() >= len(classes):
            raise MentorNetError(
                f"{name} is {column.max()}, but there are only {len(classes)} classes"
            )
