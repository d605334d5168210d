"""What the page shows of a run: training curves, pictures and the mentors' weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.audit.evidence import RunEvidence
from mentornet.audit.page import Curve, Pictures, Surface
from mentornet.config import read_config
from mentornet.data import Samples
from mentornet.data.encoding import Texts
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.data.stream.streamed import Streamed
from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors import Mentor, load_mentor
from mentornet.training.batches import eval_batches
from mentornet.training.preparation import Prepared
from mentornet.training.run_folder import RunFolder

__all__ = ["curves_of", "pictures_of", "shown_of", "surfaces_of"]

_CURVES = {
    "test_accuracy": "accuracy on test samples",
    "train_accuracy": "training samples predicted as labelled",
    "mean_weight": "mean weight v",
    "weight_auroc": "weights tell wrong labels (AUROC)",
}
_THUMBNAIL = 96  # side in pixels of a streamed image
_SIDE = 31  # points along each axis of a surface


def curves_of(rows: list[dict[str, Any]]) -> list[Curve]:
    """Return the training curves, from the lines of a run's `metrics.jsonl`.

    Values between two epochs that were evaluated are interpolated.
    """
    curves = []
    for name, title in _CURVES.items():
        known = [(row["epoch"], row[name]) for row in rows if name in row]
        if known:
            epochs, values = zip(*known, strict=True)
            every = [row["epoch"] for row in rows]
            lines = np.interp(every, epochs, values, left=np.nan, right=np.nan)
            curves.append(Curve(title, lines))
    return curves


def with_names(evidence: RunEvidence, prepared: Prepared) -> RunEvidence:
    """Return the evidence with the paths, rows and texts of the samples, where they have them."""
    train, path = prepared.train, evidence.path
    if path is None and train.paths is not None:
        path = train.paths
    row = text = None
    if train.row is not None:
        places = _places(train, prepared.samples, evidence.index)
        row = train.row[places].numpy()
        text = train.raw.at(places).texts if isinstance(train.raw, Texts) else None
    return replace(evidence, path=path, row=row, text=text)


def shown_of(
    prepared: Prepared | None, index: NDArray[np.integer[Any]]
) -> tuple[Pictures | None, list[str] | None]:
    """Return what the page shows of the samples with these numbers: pictures, or else texts.

    Args:
        prepared: the data of the run, if it is known.
        index: the numbers of the samples that are shown, in order.
    """
    if prepared is None:
        return None, None
    train = prepared.train
    if train.kind == "images":
        return pictures_of(train, prepared.samples), None
    known = None if train.raw is None else train.raw.shown()
    if known is None:
        return None, None
    return None, [known[place] for place in _places(train, prepared.samples, index).tolist()]


def _places(train: Samples, samples: Tensor | None, index: NDArray[np.integer[Any]]) -> Tensor:
    """Return the places in `train` of the samples with these numbers."""
    numbers = torch.arange(len(train)) if samples is None else samples
    return torch.searchsorted(numbers, torch.from_numpy(index.astype(np.int64)))


def pictures_of(images: Samples, samples: Tensor | None = None) -> Pictures:
    """Return a function that finds the pictures of training samples, in memory or in files.

    Args:
        images: the training images.
        samples: the number of each image; by default 0, 1, ….
    """
    source = images.inputs
    numbers = torch.arange(len(images)) if samples is None else samples
    if not isinstance(source, Streamed):
        held = source
        return lambda index: held[torch.searchsorted(numbers, torch.from_numpy(index))].numpy()
    streamed = source
    fetcher = Fetcher(default_workers(), skip_bad=True)

    def seen(index: NDArray[np.int64]) -> NDArray[np.uint8]:
        part = streamed[torch.searchsorted(numbers, torch.from_numpy(index))]
        part.side = _THUMBNAIL
        views = torch.cat(list(eval_batches(part, fetcher=fetcher)))
        return ((views + 1) * 127.5).round().clamp(0, 255).byte().numpy()

    return seen


def surfaces_of(folder: RunFolder) -> list[Surface]:
    """Return the weights of each mentor of the run, in the order in which they were learned."""
    found = [
        _surface(load_mentor(path), f"at {percent} %", percent)
        for path, percent in folder.learned_mentors()
    ]
    method = read_config(folder.config).method.method
    if not found and method in ("mentornet-auto", "mentornet-pd"):
        found.append(_surface(load_mentor("pd"), "the predefined curriculum", PERCENT - 1))
    return found


def _surface(mentor: Mentor, title: str, percent: int) -> Surface:
    losses, differences = torch.linspace(0, 6, _SIDE), torch.linspace(-3, 3, _SIDE)
    grid = torch.cartesian_prod(differences, losses)
    steps = grid[:, None].expand(-1, mentor.config.history, -1)  # losses that have not changed
    label = torch.zeros(len(grid), dtype=torch.long)
    features = MentorFeatures(
        steps[..., 1].contiguous(), steps[..., 0].contiguous(), label, label + percent
    )
    with torch.no_grad():
        weight = mentor.weight(features).view(_SIDE, _SIDE).numpy()
    return Surface(title, losses.numpy(), differences.numpy(), weight)
