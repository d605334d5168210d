"""Train the students of the corpus, and keep what was seen of every sample at many moments."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from benchmarks.universal.pools import Pool, draw_labels, pool
from benchmarks.universal.runs import Spec
from mentornet.data import Batch
from mentornet.data.augmentation import augment, standardise
from mentornet.distributed import Processes
from mentornet.methods import Task, make_method
from mentornet.randomness import generator, seeded
from mentornet.records import Records
from mentornet.students import make_student
from mentornet.training.step import TrainingStep

__all__ = ["collect"]

MOMENTS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
POLICIES: dict[str, dict[str, float]] = {
    "early": {},
    "elr": {"burn_in": 1.0},
    "plain": {"burn_in": 1.0, "strength": 0.0},
}


def _sample(spec: Spec) -> tuple[Tensor, Tensor, Tensor, int]:
    """Return x, given and true labels, and K."""
    found: Pool = pool(spec.data)
    draw = generator(spec.number, 21)
    most = int(found.true.max()) + 1
    kept = torch.randperm(most, generator=draw)[: spec.classes or most].sort().values
    rows = torch.isin(found.true, kept).nonzero()[:, 0]
    if spec.kind == "given":
        assert found.given is not None
        rows = rows[torch.isin(found.given[rows], kept)]
    rows = rows[torch.randperm(len(rows), generator=draw)[: spec.count]]
    number = torch.full((most,), -1)
    number[kept] = torch.arange(len(kept))
    x, true = found.x[rows], number[found.true[rows]]
    if spec.kind == "given":
        return x, number[found.given[rows]], true, len(kept)
    if spec.kind == "clean":
        return x, true, true, len(kept)
    given = draw_labels(spec.kind, spec.rate, x, true, len(kept), spec.number)
    return x, given, true, len(kept)


def collect(spec: Spec) -> dict[str, Any]:
    """Train one student, and return the evidence by name."""
    started = time.perf_counter()
    x, given, true, classes = _sample(spec)
    count, images = len(x), x.ndim == 4
    steps = max(1, round(count / spec.batch))
    total = steps * spec.epochs
    supervision: Any = make_method("mentornet-early", **POLICIES[spec.policy]).start(
        Task(count, classes, total, seed=spec.number)
    )
    with seeded(spec.number):
        if not images:
            net: Any = make_student("mlp", channels=x.shape[1], classes=classes, width=spec.width)
        elif x.shape[1] == 3:
            net = make_student("fast", channels=3, classes=classes, width=spec.width)
            net.prepare(standardise(x[:2000]))
        else:
            net = make_student("small-cnn", channels=1, classes=classes, width=spec.width)
    if images:
        net = net.to(memory_format=torch.channels_last)
    fabric = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed" if images else "32-true")
    groups = [
        {"params": [p for p in net.parameters() if p.ndim > 1], "weight_decay": 5e-4},
        {"params": [p for p in net.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    net, sgd = fabric.setup(net, torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True))
    step = TrainingStep(fabric, net, supervision, Processes())
    draw, records = generator(spec.number, 31), Records(count, classes=classes)
    mean_loss, recent_loss, differs, recent, looks = (torch.zeros(count) for _ in range(5))
    last, whole = torch.zeros(count), torch.zeros(count, classes)
    moments = {max(1, round(share * spec.epochs)) for share in MOMENTS}
    kept: dict[str, list[Any]] = {name: [] for name in (
        "progress", "seen", "whole", "beliefs", "mean_loss", "recent_loss", "differs", "recent", "last",
        "margin", "right", "rate")}  # fmt: skip
    for epoch in range(spec.epochs):
        net.train()
        supervision.begin_epoch(epoch)
        order = torch.randperm(count, generator=draw).tensor_split(steps)
        for number, index in enumerate(order, epoch * steps):
            inputs = x[index]
            if images:
                if x.shape[1] == 3:
                    inputs = augment(inputs, generator=draw, padding=2)
                else:
                    inputs = augment(inputs, generator=draw, padding=1, flip=False)
                inputs = standardise(inputs).contiguous(memory_format=torch.channels_last)
            progress = number / total
            rate = spec.learning_rate * min(1, (progress + 1 / total) / 0.1) * 0.5 * (
                1 + math.cos(math.pi * progress))  # fmt: skip
            for group in sgd.param_groups:
                group["lr"] = rate
            sgd.zero_grad()
            done = step.take(Batch(index, inputs, given[index]), rate)
            told = done.evidence
            records.add(
                index, told.losses, done.trust, told.predicted, told.labels, epoch, told.margins
            )
            sgd.step()
            loss = told.losses.float()
            decay = torch.where(looks[index] > 0, 0.8, 0.0)
            looks[index] += 1
            mean_loss[index] += (loss - mean_loss[index]) / looks[index]
            recent_loss[index] = decay * recent_loss[index] + (1 - decay) * loss
            other = (told.predicted != told.labels).float()
            differs[index] += (other - differs[index]) / looks[index]
            recent[index] = decay * recent[index] + (1 - decay) * other
            last[index] = loss
            assert told.probabilities is not None
            whole[index] += (told.probabilities - whole[index]) / looks[index, None]
        supervision.end_epoch(epoch)
        if epoch + 1 in moments:
            judge = supervision.judge
            seen = judge.seen / judge.seen.sum(1, keepdim=True)
            beliefs = judge.beliefs / judge.beliefs.sum(1, keepdim=True)
            for name, value in {
                "progress": torch.tensor((epoch + 1) / spec.epochs), "seen": seen, "whole": whole,
                "beliefs": beliefs, "mean_loss": mean_loss, "recent_loss": recent_loss,
                "differs": differs, "recent": recent, "last": last,
                "margin": records.margin_sum / records.margin_weight.clamp(min=1e-9), "right": judge.right,
                "rate": judge.rate,
            }.items():  # fmt: skip
                kept[name].append(value.float().numpy().astype(np.float16))
    return {
        **{name: np.stack(values) for name, values in kept.items()},
        "given": given.numpy().astype(np.int16), "true": true.numpy().astype(np.int16),
        "seconds": time.perf_counter() - started,
    }  # fmt: skip


def store(spec: Spec, folder: Path) -> None:
    """Make the file of one run, unless it is there."""
    path = folder / f"{spec.name}.npz"
    if path.is_file():
        return
    found = collect(spec)
    partial = path.with_suffix(".part")
    with partial.open("wb") as file:
        np.savez_compressed(file, **found)
    partial.rename(path)
    wrong = float((found["given"] != found["true"]).mean())
    print(f"{spec.name:50} K={found['seen'].shape[2]:3} N={len(found['true']):5} wrong {wrong:.2f} "
          f"estimate {found['rate'][-1]:.2f} {found['seconds']:.0f} s", flush=True)  # fmt: skip
