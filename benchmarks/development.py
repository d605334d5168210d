"""Development runs: what the default for people who tell the program nothing is chosen on.

    python -m benchmarks.development            # make the runs that are missing, then print a table
    python -m benchmarks.development table      # only print the table
    python -m benchmarks.development five-1500  # make the runs of one column
    python -m benchmarks.development clean elr  # make one run

No test image is looked at: students learn from training images of CIFAR-10 from number 20,000 on,
and are evaluated on training images 40,000–44,999 with their true labels.

- `five-N`: N images of the first five classes, 20 % wrong, as in a small folder of photos;
- all others: 10,000 images of ten classes. `human` columns have the labels of CIFAR-N.

Student, batches and schedule are those of the benchmark (`benchmarks.accuracy`). A run takes about
four minutes on one core, and is one file in results/development; what is there already is not made
again. Everything is on one thread; several processes may share the work, one column each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning_fabric import Fabric
from torch import Tensor

from mentornet.audit import rank
from mentornet.data import Batch, Samples, corrupt_samples, load_data, parse_noise
from mentornet.data.augmentation import augment, standardise
from mentornet.distributed import Processes
from mentornet.experiments.conditions import conditions
from mentornet.experiments.paper_runs import SMALL, SMALL_IMAGES, SMALL_WIDTH
from mentornet.files import read_json, write_json
from mentornet.methods import Task, make_method
from mentornet.metrics import auroc
from mentornet.randomness import generator, seeded
from mentornet.records import Records
from mentornet.students import make_student
from mentornet.training.schedules import learning_rate
from mentornet.training.step import TrainingStep
from mentornet.verdicts import draw_verdicts

RESULTS = Path(__file__).parents[1] / "results" / "development"
FIRST, HELD = 20_000, slice(40_000, 45_000)
FIVE = {"five-500": 500, "five-1500": 1_500, "five-5000": 5_000}
TEN = {
    "clean": None, "uniform 0.2": "uniform:0.2", "uniform 0.4": "uniform:0.4",
    "uniform 0.8": "uniform:0.8", "asymmetric 0.4": "asymmetric:0.4",
    "instance 0.4": "instance:0.4", "human aggre": "human:aggre_label",
    "human random1": "human:random_label1",
}  # fmt: skip
WAYS = (
    "mentornet-early", "elr", "mentornet-auto", "full-model", "oracle",
    "mentornet-early 100", "mentornet-early 1000", "mentornet-dd 1000", "elr 1000",
)  # fmt: skip
"""Methods; a number is that of the verified labels that it learns from, or that are put right."""
OPTIMISER = replace(SMALL, schedule="cosine", warm_up=0.1)
EPOCHS, BATCH = OPTIMISER.epochs or 1, OPTIMISER.batch_size or 1
PREPARED, AT_ONCE = 2_000, 500  # images that the student is prepared by; evaluated at once


class Data(NamedTuple):
    """Images, their given and true labels, and held-out images."""

    pixels: Tensor
    given: Tensor
    true: Tensor
    held: Tensor
    true_held: Tensor
    classes: int


def data(column: str, seed: int) -> Data:
    """Return the data of a column, with its wrong labels."""
    whole = load_data("cifar10").train
    chosen, held = torch.arange(FIRST, FIRST + SMALL_IMAGES), torch.arange(len(whole))[HELD]
    classes = len(whole.classes)
    if column in FIVE:
        classes = 5
        few = (whole.given_label[FIRST : HELD.start] < classes).nonzero()[: FIVE[column], 0]
        chosen, held = FIRST + few, held[whole.given_label[held] < classes]
    true = whole.given_label[chosen]
    return Data(
        whole.tensor[chosen], _given(column, whole, chosen, classes, seed), true,
        whole.tensor[held], whole.given_label[held], classes,
    )  # fmt: skip


def _given(column: str, whole: Samples, chosen: Tensor, classes: int, seed: int) -> Tensor:
    part, noise = whole.rows(chosen), TEN.get(column, "symmetric:0.2")
    if noise is None:
        return part.given_label
    if noise.startswith("human"):  # these are the labels of all images
        return corrupt_samples(whole, parse_noise(noise), seed=seed).given_label[chosen]
    if column in FIVE:
        part = replace(part, classes=whole.classes[:classes])
    return corrupt_samples(part, parse_noise(noise), seed=seed).given_label


class Training:
    """A student on the images of one column, taught by one method.

    Args:
        found: the data.
        way: the name of the method.
        seed: fixes the first weights, the order and the augmentation.
    """

    def __init__(self, found: Data, way: str, seed: int) -> None:
        self.found, self.records = found, Records(len(found.true), classes=found.classes)
        self.steps, self.draw = max(1, round(len(found.true) / BATCH)), generator(seed, 99)
        self.total = EPOCHS * self.steps
        name, _, verified = way.partition(" ")
        verdicts = None
        if verified:
            verdicts = draw_verdicts(found.given, found.true, int(verified), seed=seed)
        if verdicts is not None and make_method(name).needs.verdicts == "no":
            said = verdicts.said(found.given)
            found = self.found = found._replace(given=torch.where(said >= 0, said, found.given))
        right = found.given == found.true
        self.supervision = make_method(name).start(
            Task(
                len(right), found.classes, self.total, seed=seed, is_correct=right,
                verdicts=verdicts,
            )
        )  # fmt: skip
        with seeded(seed):
            net: Any = make_student("fast", channels=3, classes=found.classes, width=SMALL_WIDTH)
        net.prepare(standardise(found.pixels[:PREPARED]))
        net = net.to(memory_format=torch.channels_last)
        decayed = [weight for weight in net.parameters() if weight.ndim > 1]
        others = [weight for weight in net.parameters() if weight.ndim <= 1]
        groups: list[dict[str, Any]] = [
            {"params": decayed, "weight_decay": OPTIMISER.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        fabric = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
        self.net, self.sgd = fabric.setup(
            net, torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True)
        )
        self.step = TrainingStep(fabric, self.net, self.supervision, Processes())

    def epoch(self, epoch: int) -> None:
        self.net.train()
        self.supervision.begin_epoch(epoch)
        given = self.found.given
        order = torch.randperm(len(given), generator=self.draw).tensor_split(self.steps)
        for number, index in enumerate(order, epoch * self.steps):
            seen = augment(self.found.pixels[index], generator=self.draw, padding=2)
            rate = learning_rate(OPTIMISER, number, self.total)
            for group in self.sgd.param_groups:
                group["lr"] = rate
            self.sgd.zero_grad()
            done = self.step.take(Batch(index, _shown(seen), given[index]), rate)
            self.sgd.step()
            told = done.evidence
            self.records.add(
                index, told.losses, done.trust, told.predicted, told.labels, epoch, told.margins
            )
        self.supervision.end_epoch(epoch)

    @torch.no_grad()
    def accuracy(self) -> float:
        self.net.eval()
        parts = zip(
            self.found.held.split(AT_ONCE), self.found.true_held.split(AT_ONCE), strict=True
        )
        hits = torch.cat([self.net(_shown(images)).argmax(1) == true for images, true in parts])
        return 100 * _mean(hits)


def _shown(pixels: Tensor) -> Tensor:
    return standardise(pixels).contiguous(memory_format=torch.channels_last)


def run(column: str, way: str, seed: int = 0) -> dict[str, Any]:
    """Train once, and return what the table shows."""
    started, found = time.perf_counter(), data(column, seed)
    training, accuracy = Training(found, way, seed), []
    for epoch in range(EPOCHS):
        training.epoch(epoch)
        if epoch % 4 == 3:
            accuracy.append(training.accuracy())
    estimate = training.supervision.metrics().get("noise_rate")
    return {
        "accuracy": accuracy[-1], "best": max(accuracy), "wrong": _mean(found.given != found.true),
        "estimate": None if estimate is None else float(estimate),
        **_judged(training.records, found, estimate), "seconds": time.perf_counter() - started,
    }  # fmt: skip


def _mean(which: Tensor) -> float:
    return which.double().mean().item()


def _judged(records: Records, found: Data, estimate: Any) -> dict[str, float | None]:
    """Return how well the weights tell wrong labels, and what the audit finds of them."""
    correct = found.given == found.true
    if correct.all():
        return {}
    margin = records.margin_sum / records.margin_weight
    table = {
        "given_label": found.given.numpy(), "margin": margin.numpy(),
        "suggested_label": records.votes[:, 0].numpy(), "mean_loss": records.loss.numpy(),
    }  # fmt: skip
    share = None if estimate is None else float(estimate)
    issue = torch.from_numpy(rank(table, noise_rate=share).is_issue)
    hits = int((issue & ~correct).sum())
    return {
        "recall": hits / int((~correct).sum()), "precision": hits / max(int(issue.sum()), 1),
        "auroc": auroc(records.weight, correct) if records.weight.std() > 0 else None,
        "margin_auroc": auroc(margin, correct),
    }  # fmt: skip


def cells(only: str | None = None) -> Iterator[tuple[str, str, Path]]:
    """List column, way and file of every run."""
    for way in WAYS:
        for column in (*FIVE, *TEN):
            if only in (None, column):
                name = f"{column}-{way}-0.json".replace(" ", "-")
                yield column, way, RESULTS / name


def table() -> str:
    """Return accuracies, and what the weights and the audit find, as Markdown."""
    found = {(column, way): read_json(path) for column, way, path in cells() if path.is_file()}
    columns = [*FIVE, *TEN]
    lines = [f"| last epoch | {' | '.join(columns)} |", f"|---{'|---' * len(columns)}|"]
    for way in WAYS:
        row = [found.get((column, way)) for column in columns]
        shown = (f"{one['accuracy']:.1f}" if one else "–" for one in row)
        lines.append(f"| {way} | {' | '.join(shown)} |")
    lines += ["", "| column | method | last | best | wrong | estimate | AUROC of v | audit: found "
              "| of them wrong |", f"|---{'|---' * 8}|"]  # fmt: skip
    for (column, way), one in found.items():
        numbers = (one.get(key) for key in ("wrong", "estimate", "auroc", "recall", "precision"))
        words = " | ".join("–" if number is None else f"{number:.2f}" for number in numbers)
        lines.append(f"| {column} | {way} | {one['accuracy']:.1f} | {one['best']:.1f} | {words} |")
    return "\n".join(lines)


def main(only: str | None = None, *ways: str) -> None:
    torch.set_num_threads(1)
    for column, way, path in cells(None if only == "table" else only):
        if ways and way not in ways:
            continue
        if only != "table" and not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, run(column, way) | {"conditions": conditions()})
            print(f"{column:16} {way:20} {read_json(path)['accuracy']:.1f}", flush=True)
    print(table())


if __name__ == "__main__":
    main(*sys.argv[1:])
