"""Learn a mentor for other runs from a finished run (§5.1, DD).

The mentors that a run learns on its way know only the epochs up to the next update. This mentor
learns from the losses of the verified samples in every epoch, so it can serve a whole training.
Shapes: M verified samples, E epochs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.config import read_trusted
from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures
from mentornet.files import reading
from mentornet.mentors import FitConfig, Lesson, Mentor, fit_labels, load_mentor, make_mentor
from mentornet.methods.weighted import WeightingMethod
from mentornet.metrics import auroc
from mentornet.randomness import generator
from mentornet.records import read_records
from mentornet.training.preparation import prepare
from mentornet.training.run_folder import RunFolder
from mentornet.weighting.smoothing import SmoothedLoss

__all__ = ["Transferred", "learn_mentor", "read_lessons"]

_REPEATS = 4  # copies of a sample and epoch, each at another percent of progress within it


@dataclass(frozen=True)
class Transferred:
    """A learned mentor, and how good it is on held-out samples.

    Errors are means of (v − v*)² over these samples in all epochs.

    Attributes:
        mentor: the learned mentor.
        verified: M, with the held-out samples.
        wrong: the number of verified samples with a wrong label.
        epochs: E.
        error: the error of the learned mentor.
        error_predefined: the error of the mentor "pd".
        auroc: how well v separates correct from wrong labels.
        summary: the summary of the run.
    """

    mentor: Mentor
    verified: int
    wrong: int
    epochs: int
    error: float
    error_predefined: float
    auroc: float
    summary: dict[str, Any]


def learn_mentor(
    run: Path,
    config: FitConfig,
    *,
    on_progress: Callable[[int, float], None] | None = None,
    trust_code: bool = False,
) -> Transferred:
    """Learn a mentor, which reads no label, from the run in a folder.

    Args:
        run: the folder of a finished run.
        config: how the mentor is fitted.
        on_progress: called with the step and the error while it is fitted.
        trust_code: whether a student or a method that the run's config names as `module:factory`
            may be imported, which runs its code.
    """
    lesson, sample = read_lessons(run, trust_code=trust_code)
    count = int(sample.max()) + 1
    mentor = make_mentor("bilstm", seed=config.seed, num_classes=1, use_label=False)
    record = fit_labels(
        mentor, lesson.features, lesson.target.bool(), config, sample=sample, seed=config.seed,
        on_progress=on_progress,
    )  # fmt: skip
    mentor.eval().requires_grad_(False)
    held_out = record.held_out
    assert held_out is not None
    if held_out.target.unique().numel() < 2:
        raise MentorNetError(
            f"{count} verified samples are too few to learn a mentor from: some with a correct "
            "and some with a wrong label must be held out"
        )
    with torch.no_grad():
        weight = mentor.weight(held_out.features)
        predefined = load_mentor("pd").weight(held_out.features)
    wrong = int((lesson.target[torch.searchsorted(sample, torch.arange(count))] == 0).sum())
    return Transferred(
        mentor,
        verified=count,
        wrong=wrong,
        epochs=len(sample) // count // _REPEATS,
        error=((weight - held_out.target) ** 2).mean().item(),
        error_predefined=((predefined - held_out.target) ** 2).mean().item(),
        auroc=auroc(weight, held_out.target.bool()),
        summary=RunFolder(run).read_summary(),
    )


def read_lessons(run: Path, *, trust_code: bool = False) -> tuple[Lesson, Tensor]:
    """Read the verified samples of a finished run at every epoch.

    Returns:
        M · E · 4 rows in the order of the samples, and the number of the sample of each row, from 0
        to M − 1.
    """
    folder = RunFolder(run)
    if not folder.summary.is_file():
        raise MentorNetError(f"{run} is not a finished run: it has no {folder.summary.name}")
    prepared = prepare(read_trusted(folder.config, trust_code=trust_code))
    verified = prepared.verdicts
    if verified is None:
        raise MentorNetError(
            f"{run} had no verified samples to learn from; train with the method mentornet-dd, and "
            "with verdicts or clean_count"
        )
    rows = folder.read_metrics()
    if not rows:
        raise MentorNetError(f"{folder.metrics} is empty; has the run ended?")
    if not all("loss_level" in row for row in rows):
        raise MentorNetError(
            f"{run} has no loss_level to compare losses with, because the method "
            f"{prepared.method.name} computes none; train with the method mentornet-dd"
        )
    table = read_records(folder.records)
    with reading(folder.records, "as the records of this run"):
        chosen = table["loss"].to_numpy()[verified.index.numpy()]
        losses = torch.from_numpy(np.stack(chosen).astype(np.float32))
    if tuple(losses.shape) != (len(verified.index), len(rows)):
        raise MentorNetError(
            f"{folder.records} must have {len(rows)} losses of every sample, as "
            f"{folder.metrics.name} has lines; got the shape {tuple(losses.shape)}"
        )
    if isinstance(prepared.method, WeightingMethod) and prepared.method.smoothing:
        losses = _smoothed(losses, prepared.method.smoothing)
    levels = torch.tensor([row["loss_level"] for row in rows])
    count, epochs = losses.shape
    steps = torch.arange(epochs).repeat(count).repeat_interleave(_REPEATS)
    within = torch.rand(len(steps), generator=generator(prepared.config.seed, 4))
    percent = ((steps + within) / epochs * PERCENT).long().clamp(max=PERCENT - 1)
    loss = losses.flatten().repeat_interleave(_REPEATS)
    features = MentorFeatures.from_loss(loss, loss_level=levels[steps], progress=percent)
    sample = torch.arange(count).repeat_interleave(epochs * _REPEATS)
    return Lesson(features, verified.is_correct[sample].float()), sample


def _smoothed(losses: Tensor, smoothing: float) -> Tensor:
    """Return the losses `(M, E)` as the run's mentors saw them: moving averages over epochs."""
    averages, every = SmoothedLoss(len(losses), smoothing), torch.arange(len(losses))
    return torch.stack([averages.push(every, column) for column in losses.T], 1)
