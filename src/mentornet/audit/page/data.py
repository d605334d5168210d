"""The data of the page: which samples it lists in which order, and their numbers.

Long columns are stored as base64 of little-endian numbers, which a browser turns into typed arrays
at once. Everything else is plain JSON.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mentornet.audit.page.contents import Contents, SampleTable

__all__ = ["LISTED", "as_script", "listing", "page_data", "with_picture"]

LISTED = 100_000
"""The most samples that the page lists, suspects first."""

OTHERS = 2_000
"""How many samples that are neither suspects nor near-ties have a picture, worst first."""

POINTS = 32
"""The most points of a spark line; longer trajectories are averaged over adjacent epochs."""

BINS = 40
TEXT_BYTES, NAME_BYTES = 10_000_000, 4_000_000
SHORTEST = 20


def listing(samples: SampleTable, limit: int = LISTED) -> NDArray[np.int64]:
    """Return the rows that the page lists: suspects, near-ties, then others, each worst first."""
    quality = np.asarray(samples.quality, np.float64)
    order = np.lexsort((samples.index, quality, _group(samples)))
    return order[:limit]


def with_picture(samples: SampleTable, rows: NDArray[np.int64]) -> int:
    """Return how many of the listed `rows` have a picture: suspects, near-ties, some others."""
    return min(len(rows), int(np.sum(_group(samples)[rows] < 2)) + OTHERS)


def _group(samples: SampleTable) -> NDArray[np.int64]:
    """Return 0 for suspects, 1 for other near-ties and 2 for the rest, `(N,)`."""
    suspect = np.asarray(samples.is_issue, bool)
    return np.where(suspect, 0, np.where(np.asarray(samples.is_ambiguous, bool), 1, 2))


def page_data(contents: Contents, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return all of the page's data except the pictures, for JSON."""
    samples = contents.samples
    trajectory = np.asarray(samples.trajectory, np.float32)
    mean_loss, last_loss = _mean_loss(trajectory), _last_loss(trajectory)
    has_losses = bool(np.isfinite(mean_loss).any())
    names, name_limit = _fitting(samples.name, rows, NAME_BYTES)
    texts, text_limit = _fitting(contents.texts, rows, TEXT_BYTES)
    return {
        "run": _fingerprint(contents),
        "classes": [_clean(name) for name in contents.class_names],
        "count": len(samples),
        "suspects": int(np.sum(np.asarray(samples.is_issue, bool))),
        "epochs": trajectory.shape[1],
        "columns": _columns(samples, rows, mean_loss, last_loss),
        "sparks": _sparks(trajectory[rows]),
        "names": names,
        "nameLimit": name_limit,
        "texts": texts,
        "textLimit": text_limit,
        "known": {"loss": has_losses, "weight": bool(np.isfinite(samples.mean_weight).any())},
        "histogram": _histogram(
            mean_loss if has_losses else np.asarray(samples.quality, np.float64),
            np.asarray(samples.is_issue, bool),
        ),
        "curves": [
            {"name": _clean(curve.name), "axis": _clean(curve.axis), "values": _plain(curve.values)}
            for curve in contents.curves
        ],
        "surfaces": [
            {
                "title": _clean(surface.title),
                "losses": _plain(surface.losses),
                "differences": _plain(surface.differences),
                "weights": [_plain(row) for row in surface.weights],
            }
            for surface in contents.surfaces
        ],
    }


def _columns(
    samples: SampleTable,
    rows: NDArray[np.int64],
    mean_loss: NDArray[np.float64],
    last_loss: NDArray[np.float64],
) -> dict[str, Any]:
    """Return the packed columns of the listed samples."""
    flags = np.asarray(samples.is_issue, bool) + 2 * np.asarray(samples.is_ambiguous, bool)
    truth = samples.true_label
    return {
        "index": _packed(samples.index[rows], "<f8"),
        "given": _packed(samples.given_label[rows], "<i4"),
        "suggested": _packed(samples.suggested_label[rows], "<i4"),
        "truth": None if truth is None else _packed(truth[rows], "<i4"),
        "probability": _packed(samples.suggested_probability[rows], "<f4"),
        "quality": _packed(samples.quality[rows], "<f4"),
        "weight": _packed(samples.mean_weight[rows], "<f4"),
        "loss": _packed(mean_loss[rows], "<f4"),
        "last": _packed(last_loss[rows], "<f4"),
        "flags": _packed(flags[rows], "u1"),
    }


def as_script(data: object) -> str:
    r"""Return JSON that is safe inside a script element: nothing in it can end or open one.

    >>> as_script({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _fingerprint(contents: Contents) -> str:
    """Return a key for the verdicts in the browser's storage, different for other data."""
    digest = hashlib.sha256()
    for part in (contents.title, *contents.class_names, *(contents.samples.name or ())):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    for column in (contents.samples.index, contents.samples.given_label):
        digest.update(np.ascontiguousarray(column, "<i8").tobytes())
    return digest.hexdigest()[:16]


def _packed(values: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()


def _plain(values: NDArray[Any]) -> list[float | None]:
    """Round numbers to five digits; None stands for those that are not finite."""
    return [
        float(f"{value:.5g}") if np.isfinite(value) else None
        for value in np.asarray(values, np.float64).tolist()
    ]


def _clean(text: str) -> str:
    """Replace what cannot be written as UTF-8; the name of a file may have such characters."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _fitting(
    texts: Sequence[str] | None, rows: NDArray[np.int64], budget: int
) -> tuple[list[str] | None, int | None]:
    """Return the texts of `rows`, and the length that they are cut to, if they are cut.

    Texts stay whole if all of them together, as JSON, fit in `budget` bytes.
    """
    if texts is None:
        return None, None
    whole = [_clean(texts[row]) for row in rows.tolist()]
    longest = limit = max(map(len, whole), default=0)
    cut = whole
    while (size := len(as_script(cut).encode())) > budget and limit > SHORTEST:
        limit = max(SHORTEST, min(limit - 1, int(limit * budget / size)))
        cut = [text if len(text) <= limit else text[:limit] + "…" for text in whole]
    return cut, limit if limit < longest else None


def _mean_loss(trajectory: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the mean loss of each sample over the epochs that saw it; NaN if none did."""
    known = np.isfinite(trajectory)
    count = known.sum(1)
    total = np.where(known, trajectory, 0).sum(1, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _last_loss(trajectory: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the loss of each sample in the last epoch that saw it; NaN if none did."""
    last = np.full(len(trajectory), np.nan)
    for losses in trajectory.T:
        last = np.where(np.isfinite(losses), losses, last)
    return last


def _sparks(trajectory: NDArray[np.float32]) -> dict[str, Any]:
    """Return every trajectory as at most 32 points in 0 … 254; 255 stands for unknown.

    254 stands for `top`; one loss in two hundred is larger.
    """
    groups = np.array_split(trajectory, min(POINTS, max(1, trajectory.shape[1])), axis=1)
    points = np.stack([_mean_loss(group) for group in groups], axis=1)
    known = np.isfinite(points)
    top = float(np.quantile(points[known], 0.995)) if known.any() else 1.0
    top = top if top > 0 else 1.0
    level = np.clip(np.where(known, points, 0) / top, 0, 1) * 254
    levels = np.where(known, np.rint(level), 255).astype(np.uint8)
    return {"points": levels.shape[1], "top": float(f"{top:.4g}"), "levels": _packed(levels, "u1")}


def _histogram(numbers: NDArray[np.float64], suspect: NDArray[np.bool_]) -> dict[str, Any]:
    """Count kept and suspect samples by a number of theirs; the last bin has no upper end.

    The number is the mean loss, or the label quality if no losses are known.
    """
    known = np.isfinite(numbers)
    values = numbers[known]
    top = float(np.quantile(values, 0.995)) if len(values) else 1.0
    low = min(0.0, float(values.min())) if len(values) else 0.0
    edges = np.linspace(low, top if top > low else low + 1.0, BINS + 1)
    bins = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, BINS - 1)

    def counts(chosen: NDArray[np.bool_]) -> list[int]:
        return [int(n) for n in np.bincount(bins[chosen & known], minlength=BINS)]

    return {
        "edges": _plain(edges),
        "kept": counts(~suspect),
        "suspect": counts(suspect),
        "unknown": int(np.sum(~known)),
    }
