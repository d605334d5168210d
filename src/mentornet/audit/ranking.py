"""Which labels are wrong, worst first, and how many.

A label is judged by its margin all through training: by how much the student preferred it to the
best other class, m = Σ w mₜ / Σ w, each mₜ at most 4. A right label is learned early, as other
samples of its class teach it; a wrong one goes against all that they teach, so it is learned late
or, once the mentor leaves it out, never. The average needs no threshold on a single epoch and
forgives a bad one. w is how firmly the student holds its opinions at that time (`firmness`): they
are still loose early on, and when it comes to learn wrong labels by heart, those against them give
way. Beyond 4 a margin only says how often its sample was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.audit.evidence import Evidence, evidence_of
from mentornet.errors import MentorNetError
from mentornet.weighting.two_gaussians import share_of_lower

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Ranking", "Wrong", "rank"]

_TIE = 1 / 3, 2 / 3
"""Qualities between these are near-ties: the two labels are within 1:2 and 2:1."""

_UNSURE = 0.2, 0.02
"""Of the estimated share of wrong labels, to either side: a part of it, and so much in any case."""


@dataclass(frozen=True)
class Wrong:
    """How many labels are estimated to be wrong.

    Attributes:
        count: the estimate.
        low: the lower end of what is plausible.
        high: the upper end.
    """

    count: int
    low: int
    high: int


@dataclass(frozen=True)
class Ranking:
    """The verdict on every label.

    Attributes:
        evidence: what it was made of, of the samples that were seen.
        quality: of each label, in [0, 1], low is bad: 1/(1 + e^(−m)), m being its margin.
        is_issue: whether it is suspected to be wrong.
        is_ambiguous: whether two labels are nearly tied, so that nobody can say.
        threshold: the quality below which labels are suspected.
        wrong: how many are wrong in all.
        classes: the class names, if they are known.
        notes: what a reader should hear.
    """

    evidence: Evidence
    quality: NDArray[np.float64]
    is_issue: NDArray[np.bool_]
    is_ambiguous: NDArray[np.bool_]
    threshold: float
    wrong: Wrong
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """One row a sample, worst first: cleanlab's column names, and ours.

        `index`, `path` where samples have one, `is_label_issue`, `label_quality`, `given_label`,
        `predicted_label`, `predicted_probability`, `is_ambiguous`, `mean_weight`,
        `learned_epoch`, `forgotten`, and `true_label` where it is known. Labels are class names
        where these are known.
        """
        import pandas as pd

        evidence = self.evidence
        columns: dict[str, Any] = {"index": evidence.index}
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
        if evidence.true_label is not None:
            columns["true_label"] = self._named(evidence.true_label)
        order = np.lexsort((self.quality, ~self.is_issue))
        return pd.DataFrame(columns).iloc[order].reset_index(drop=True)

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
) -> Ranking:
    """Judge every label from the records of training.

    Args:
        records: of a run, `RUN/records.parquet`; or a table with `given_label` and `loss` (a
            list of losses a sample) and what else `evidence_of` reads.
        classes: their names.
        noise_rate: the share of wrong labels, where something better than the margins alone can
            tell it, such as the run itself; if left out, the margins are taken as two bells.
        plausible: the ends of what that share may be; if left out, a fifth of it and two points to
            either side, and two standard errors.
    """
    evidence = evidence_of(records) if not isinstance(records, Evidence) else records
    if noise_rate is not None and not 0 <= noise_rate <= 1:
        raise MentorNetError(f"noise_rate must be in [0, 1], got {noise_rate:g}")
    if plausible is not None and not 0 <= plausible[0] <= plausible[1] <= 1:
        raise MentorNetError(f"plausible must be two rising shares in [0, 1], got {plausible}")
    names = None if classes is None else tuple(classes)
    _check_labels(evidence, names)
    notes = []
    seen = np.isfinite(evidence.margin)
    if not seen.any():
        raise MentorNetError("no sample has a loss that is a number; was anything trained?")
    if not seen.all():
        notes.append(f"{int((~seen).sum())} of {len(seen)} samples were never seen: left out")
        evidence = evidence.rows(seen)
    quality = 1 / (1 + np.exp(-evidence.margin))
    share = share_of_lower(torch.tensor(evidence.margin)) if noise_rate is None else noise_rate
    count = round(share * len(quality))
    threshold = float(np.partition(quality, count - 1)[count - 1]) if count else 0.0
    low = quality <= threshold if count else np.zeros(len(quality), bool)
    tied = (quality > _TIE[0]) & (quality < _TIE[1])
    doubted = evidence.suggested_label != evidence.given_label
    is_issue = low & doubted & ~tied
    return Ranking(
        evidence, quality, is_issue, tied | (low & ~doubted), threshold,
        _wrong(share, plausible, len(quality)),
        names, tuple(notes),
    )  # fmt: skip


def _wrong(share: float, plausible: tuple[float, float] | None, count: int) -> Wrong:
    if plausible is None:
        error = 2 * math.sqrt(max(share * (1 - share), 0.01) / count)
        unsure = _UNSURE[0] * share + _UNSURE[1] + error
        plausible = max(0.0, share - unsure), min(1.0, share + unsure)
    low, high = plausible
    return Wrong(round(share * count), math.floor(low * count), math.ceil(high * count))


def _check_labels(evidence: Evidence, classes: tuple[str, ...] | None) -> None:
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
