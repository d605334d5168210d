"""Train a student of the corpus, and keep what was seen of every sample at many moments."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning_fabric import Fabric
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.universal.pools import draw_labels, pool
from benchmarks.universal.runs import Spec
from mentornet.data import Batch
from mentornet.data.augmentation import augment, standardise
from mentornet.distributed import Processes
from mentornet.mentors.universal import UniversalMentor
from mentornet.methods import Task, make_method
from mentornet.randomness import generator, seeded
from mentornet.students import make_student
from mentornet.training.step import TrainingStep

__all__ = ["START", "collect", "store"]

START = UniversalMentor({"posterior": 0.65})
"""The mentor of the policy early, before one was learned."""

MOMENTS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_POLICIES: dict[str, dict[str, Any]] = {
    "early": {"rejected": "drop"},
    "plain": {"rejected": "drop", "burn_in": 1.0, "strength": 0.0},
}
_SMOOTHED = 0.8  # decay of the moving average of a sample's loss
_PREPARED = 2_000  # images that the fast student is prepared by
_WARM_UP = 0.1

Arrays = dict[str, NDArray[Any]]


class _Data(NamedTuple):
    """x `(N, …)`, given and true labels `(N,)`, and K."""

    x: Tensor
    given: Tensor
    true: Tensor
    classes: int


def _data(spec: Spec) -> _Data:
    found, draws = pool(spec.data), generator(spec.number, 21)
    every = int(found.true.max()) + 1
    kept = torch.randperm(every, generator=draws)[: spec.classes or every].sort().values
    rows = torch.isin(found.true, kept).nonzero()[:, 0]
    if spec.kind == "given":
        rows = rows[torch.isin(found.given[rows], kept)]
    rows = rows[torch.randperm(len(rows), generator=draws)[: spec.count]]
    number = torch.full((every,), -1)
    number[kept] = torch.arange(len(kept))
    x, true, given = found.x[rows], number[found.true[rows]], number[found.given[rows]]
    if spec.kind == "clean":
        given = true
    elif spec.kind != "given":
        given = draw_labels(spec.kind, spec.rate, x, true, len(kept), spec.number)
    return _Data(x, given, true, len(kept))


def _student(spec: Spec, data: _Data) -> Any:
    with seeded(spec.number):
        if data.x.ndim == 2:
            return make_student(
                "mlp", channels=data.x.shape[1], classes=data.classes, width=spec.width
            )
        colour = data.x.shape[1] == 3
        made: Any = make_student(
            "fast" if colour else "small-cnn", channels=data.x.shape[1], classes=data.classes,
            width=spec.width,
        )  # fmt: skip
    if colour:
        made.prepare(standardise(data.x[:_PREPARED]))
    return made.to(memory_format=torch.channels_last)


class _Looks:
    """What was seen of every sample's loss so far."""

    def __init__(self, count: int) -> None:
        self.looks = torch.zeros(count)
        self.kept = {name: torch.zeros(count) for name in ("mean_loss", "recent_loss", "differs")}

    def add(self, index: Tensor, loss: Tensor, differs: Tensor) -> None:
        """Add a batch: its losses, and whether the prediction is not the given label."""
        first = self.looks[index] == 0
        self.looks[index] += 1
        share = 1 / self.looks[index]
        for name, value, rate in (
            ("mean_loss", loss, share),
            ("recent_loss", loss, torch.where(first, 1.0, 1 - _SMOOTHED)),
            ("differs", differs, share),
        ):
            self.kept[name][index] += rate * (value - self.kept[name][index])


def _shown(x: Tensor, draws: torch.Generator) -> Tensor:
    if x.ndim == 2:
        return x
    colour = x.shape[1] == 3
    seen = augment(x, generator=draws, padding=2 if colour else 1, flip=colour)
    return standardise(seen).contiguous(memory_format=torch.channels_last)


def collect(spec: Spec) -> Arrays:
    """Train one student, and return the evidence by name, a row for each moment."""
    data = _data(spec)
    with seeded(spec.number):  # dropout
        kept = _train(spec, data)
    found: Arrays = {
        name: torch.stack(values).numpy().astype(np.float16) for name, values in kept.items()
    }
    labels = {"given": data.given, "true": data.true}
    return found | {name: label.numpy().astype(np.int16) for name, label in labels.items()}


def _train(spec: Spec, data: _Data) -> dict[str, list[Tensor]]:
    """Return what was seen at each moment, by name."""
    count, steps = len(data.given), max(1, round(len(data.given) / spec.batch))
    total, draws = steps * spec.epochs, generator(spec.number, 31)
    supervision: Any = make_method("mentornet-early", **_POLICIES[spec.policy]).start(
        Task(count, data.classes, total, seed=spec.number)
    )
    supervision.judge.mentor = START
    student = _student(spec, data)
    groups = [
        {"params": [one for one in student.parameters() if one.ndim > 1], "weight_decay": 5e-4},
        {"params": [one for one in student.parameters() if one.ndim <= 1], "weight_decay": 0.0},
    ]
    precision: Any = "bf16-mixed" if data.x.ndim == 4 else "32-true"
    fabric = Fabric(accelerator="cpu", devices=1, precision=precision)
    student, sgd = fabric.setup(
        student, torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True)
    )
    step, looks = TrainingStep(fabric, student, supervision, Processes()), _Looks(count)
    moments = {max(1, round(share * spec.epochs)) for share in MOMENTS}
    kept: dict[str, list[Tensor]] = {"progress": [], "seen": [], **{n: [] for n in looks.kept}}
    for epoch in range(spec.epochs):
        student.train()
        supervision.begin_epoch(epoch)
        order = torch.randperm(count, generator=draws).tensor_split(steps)
        for number, index in enumerate(order, epoch * steps):
            inputs, progress = _shown(data.x[index], draws), number / total
            rate = spec.learning_rate * min(1.0, (progress + 1 / total) / _WARM_UP)
            rate *= 0.5 * (1 + math.cos(math.pi * progress))
            for group in sgd.param_groups:
                group["lr"] = rate
            sgd.zero_grad()
            told = step.take(Batch(index, inputs, data.given[index]), rate).evidence
            sgd.step()
            looks.add(index, told.losses.float(), (told.predicted != told.labels).float())
        supervision.end_epoch(epoch)
        if epoch + 1 in moments:
            seen = supervision.judge.seen
            kept["progress"].append(torch.tensor((epoch + 1) / spec.epochs))
            kept["seen"].append(seen / seen.sum(1, keepdim=True))
            for name, values in looks.kept.items():
                kept[name].append(values.clone())
    return kept


def store(spec: Spec, folder: Path) -> Path:
    """Make the file of one run, unless it is there, and return it."""
    path = folder / f"{spec.name}.npz"
    if not path.is_file():
        found: Any = collect(spec)
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            np.savez_compressed(file, **found)
        partial.rename(path)
    return path
