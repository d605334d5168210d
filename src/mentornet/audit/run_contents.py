"""What the page of a run's audit shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mentornet.audit import Curve, Pictures, Surface
from mentornet.config import read_config
from mentornet.data import Samples
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.data.stream.streamed import Streamed
from mentornet.features import EPOCHS, MentorFeatures
from mentornet.mentors import Mentor, load_mentor
from mentornet.training.batches import eval_batches
from mentornet.training.run_folder import RunFolder
from mentornet.weighting import apply_rule

__all__ = ["curves_of", "pictures_of", "surfaces_of"]

_CURVES = {
    "test_accuracy": "accuracy on test images",
    "train_accuracy": "training images predicted as labelled",
    "mean_weight": "mean weight v",
    "weight_auroc": "weights tell wrong labels (AUROC)",
}
_THUMBNAIL = 96  # pixels, of images that are streamed
_SIDE = 31  # points along each axis of a surface


def curves_of(rows: list[dict[str, Any]]) -> list[Curve]:
    """The training curves, from a run's metrics; straight lines between the epochs of two looks."""
    curves = []
    for name, title in _CURVES.items():
        known = [(row["epoch"], row[name]) for row in rows if name in row]
        if known:
            epochs, values = zip(*known, strict=True)
            every = [row["epoch"] for row in rows]
            lines = np.interp(every, epochs, values, left=np.nan, right=np.nan)
            curves.append(Curve(title, lines))
    return curves


def pictures_of(images: Samples, samples: Tensor | None = None) -> Pictures:
    """What gives the pictures of training samples, from memory or from their files.

    Args:
        images: that were trained on.
        samples: the number of each; their places if left out.
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
    """The weight that each mentor of the run gives over loss and difference, by when it came."""
    learned = sorted(folder.mentors.iterdir(), key=_number) if folder.mentors.is_dir() else []
    found = [
        _surface(load_mentor(path), f"at {_percent(path)} %", _percent(path))
        for path in learned
        if (path / "config.json").is_file()
    ]
    method = read_config(folder.config).method.method
    if not found and method in ("mentornet-auto", "mentornet-pd"):
        found.append(_surface(load_mentor("pd"), "the predefined curriculum", EPOCHS - 1))
    return found


def _surface(mentor: Mentor, title: str, percent: int) -> Surface:
    losses, differences = torch.linspace(0, 6, _SIDE), torch.linspace(-3, 3, _SIDE)
    grid = torch.cartesian_prod(differences, losses)
    features = _features(grid[:, 1], grid[:, 0], mentor.config.history, percent)
    with torch.no_grad():
        weight = apply_rule(mentor, features).view(_SIDE, _SIDE).numpy()
    return Surface(title, losses.numpy(), differences.numpy(), weight)


def _percent(path: Path) -> int:
    """When a mentor was learned: its folder is called 2-at-17."""
    last = path.name.rpartition("-")[2]
    return int(last) if last.isdecimal() else EPOCHS - 1


def _features(
    loss: torch.Tensor, difference: torch.Tensor, history: int, epoch: int
) -> MentorFeatures:
    """A sample whose last losses were all the same."""
    label = torch.zeros(len(loss), dtype=torch.long)
    return MentorFeatures(
        loss[:, None].expand(-1, history).contiguous(),
        difference[:, None].expand(-1, history).contiguous(),
        label,
        torch.full_like(label, epoch),
    )


def _number(path: Path) -> tuple[int, str]:
    first = path.name.partition("-")[0]
    return (int(first) if first.isdecimal() else 0, path.name)
