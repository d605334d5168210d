"""A mentor to take elsewhere, learned from all epochs of a finished run (§5.1, DD).

The mentors that a run learns on its way know only the epochs that they served in. This one is
shown the losses of the verified samples in every epoch, so it serves a whole training.
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

from mentornet.config import read_config
from mentornet.errors import MentorNetError
from mentornet.features import EPOCHS, MentorFeatures
from mentornet.files import read_json
from mentornet.mentors import FitConfig, Lesson, Mentor, binary, fit, load_mentor, make_mentor
from mentornet.methods.weighted import SpadeMethod
from mentornet.metrics import auroc
from mentornet.randomness import generator
from mentornet.records import read_records
from mentornet.training.preparation import prepare
from mentornet.training.run_folder import RunFolder
from mentornet.weighting import apply_rule
from mentornet.weighting.smoothing import SmoothedLoss

__all__ = ["Transferred", "learn_mentor", "read_lessons"]

_HELD_OUT, _STOPPED_BY = 0.2, 0.1  # shares of the verified samples
_REPEATS = 4  # copies of a sample and epoch, each at another percent of progress within it


@dataclass(frozen=True)
class Transferred:
    """What came of it; errors are means of (v − v*)² over the samples held out, all epochs.

    Attributes:
        mentor: that was learned.
        verified: M, held-out ones included.
        wrong: how many of them have a wrong label.
        epochs: E.
        error: of the learned mentor.
        error_predefined: of the mentor "pd".
        auroc: how well v tells right from wrong labels.
        summary: of the run.
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
    run: Path, config: FitConfig, *, on_progress: Callable[[int, float], None] | None = None
) -> Transferred:
    """Learn a mentor that reads no label from the run in that folder."""
    lesson, sample = read_lessons(run)
    count = int(sample.max()) + 1
    order = torch.randperm(count, generator=generator(config.seed, 3))
    place = torch.empty_like(order)
    place[order] = torch.arange(count)
    share = place[sample] / count  # whole samples are held out, not single epochs of them
    judged = lesson.rows(share < _HELD_OUT)
    stopped_by = lesson.rows((share >= _HELD_OUT) & (share < _HELD_OUT + _STOPPED_BY))
    taught = lesson.rows(share >= _HELD_OUT + _STOPPED_BY)
    for part in (taught, stopped_by, judged):
        if part.target.unique().numel() < 2:
            raise MentorNetError(
                f"{count} verified samples are too few to learn a mentor from: some of each kind, "
                "right and wrong, must be held out"
            )
    mentor = make_mentor("bilstm", seed=config.seed, num_classes=1, use_label=False)
    fit(
        mentor, taught, binary, error=binary, judged_on=stopped_by, config=config,
        on_progress=on_progress,
    )  # fmt: skip
    mentor.eval().requires_grad_(False)
    with torch.no_grad():
        weight = apply_rule(mentor, judged.features)
        predefined = apply_rule(load_mentor("pd"), judged.features)
    wrong = int((lesson.target[torch.searchsorted(sample, torch.arange(count))] == 0).sum())
    return Transferred(
        mentor,
        verified=count,
        wrong=wrong,
        epochs=len(sample) // count // _REPEATS,
        error=((weight - judged.target) ** 2).mean().item(),
        error_predefined=((predefined - judged.target) ** 2).mean().item(),
        auroc=auroc(weight, judged.target.bool()),
        summary=read_json(RunFolder(run).summary),
    )


def read_lessons(run: Path) -> tuple[Lesson, Tensor]:
    """The verified samples of a finished run at every epoch, and which sample each row is.

    Returns:
        M · E · 4 rows, rising by sample, and the number of the sample of each, 0 to M − 1.
    """
    folder = RunFolder(run)
    if not folder.summary.is_file():
        raise MentorNetError(f"{run} is not a finished run: it has no {folder.summary.name}")
    prepared = prepare(read_config(folder.config))
    verified = prepared.verified
    if verified is None:
        raise MentorNetError(
            f"{run} had no verified samples to learn from; train with the method mentornet-dd and "
            "verdicts or clean_count"
        )
    rows = folder.read_metrics()
    if "loss_percentile" not in rows[-1]:
        raise MentorNetError(
            f"{run} has no loss percentile to compare losses with, as {prepared.method.name} takes "
            "none; train with --method mentornet-dd"
        )
    table = read_records(folder.records)
    losses = torch.from_numpy(np.stack(table["loss"].to_numpy()[verified.index.numpy()]))
    if isinstance(prepared.method, SpadeMethod) and prepared.method.smoothing:
        losses = _smoothed(losses, prepared.method.smoothing)
    levels = torch.tensor([row["loss_percentile"] for row in rows])
    count, epochs = losses.shape
    steps = torch.arange(epochs).repeat(count).repeat_interleave(_REPEATS)
    within = torch.rand(len(steps), generator=generator(prepared.config.seed, 4))
    percent = ((steps + within) / epochs * EPOCHS).long().clamp(max=EPOCHS - 1)
    loss = losses.flatten().repeat_interleave(_REPEATS)
    features = MentorFeatures.from_loss(loss, percentile=levels[steps], epoch=percent)
    sample = torch.arange(count).repeat_interleave(epochs * _REPEATS)
    return Lesson(features, verified.is_correct[sample].float()), sample


def _smoothed(losses: Tensor, smoothing: float) -> Tensor:
    """The losses `(M, E)` as the run's mentors saw them: averages over the epochs."""
    averages, every = SmoothedLoss(len(losses), smoothing), torch.arange(len(losses))
    return torch.stack([averages.push(every, column) for column in losses.T], 1)
