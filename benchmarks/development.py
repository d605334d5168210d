"""Development runs: what the default for people who tell the program nothing is chosen on.

    python -m benchmarks.development            # make the runs that are missing, then print a table
    python -m benchmarks.development table      # only print the table
    python -m benchmarks.development five-1500  # make the runs of one column

No test image is looked at: students learn from training images of CIFAR-10 from number 20,000 on,
and are evaluated on training images 40,000–43,999 with their true labels.

- `five-N`: N images of the first five classes, 20 % wrong, as in a small folder of photos;
- all others: 5,000 images of ten classes. `human` columns have the labels of CIFAR-N.

A student of convolutions takes a quarter of an hour for one run on one core. So images are turned
into features once (256 patches, found by k-means on other training images, pooled to 2 × 2; four
flipped or moved views of each), and the student is a network of three layers. It memorises wrong
labels as others do, in 15 seconds. A run is one file in results/development, and what is there
already is not made again. Everything is on one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from benchmarks.patch_features import features
from mentornet.audit import rank
from mentornet.config import OptimiserConfig
from mentornet.data import Batch, Samples, corrupt_samples, load_data, parse_noise
from mentornet.distributed import Processes
from mentornet.experiments.conditions import conditions
from mentornet.files import read_json, write_json
from mentornet.methods import Task, make_method
from mentornet.metrics import auroc
from mentornet.randomness import generator, seeded
from mentornet.records import Records
from mentornet.training.schedules import learning_rate
from mentornet.training.step import TrainingStep
from mentornet.weighting import add_weight_decay

RESULTS = Path(__file__).parents[1] / "results" / "development"
FIRST, COUNT = 20_000, 5_000
FIVE = {"five-500": 500, "five-1500": 1_500, "five-5000": 5_000}
TEN = {
    "clean": None, "uniform 0.2": "uniform:0.2", "uniform 0.4": "uniform:0.4",
    "uniform 0.8": "uniform:0.8", "asymmetric 0.4": "asymmetric:0.4",
    "instance 0.4": "instance:0.4", "human aggre": "human:aggre_label",
    "human random1": "human:random_label1",
}  # fmt: skip
WAYS = (
    "mentornet-early", "mentornet-auto", "full-model", "elr", "mentornet-posterior", "oracle",
)  # fmt: skip
SEEDS = {"mentornet-early": 2, "mentornet-auto": 2}
EPOCHS = 40
OPTIMISER = OptimiserConfig(epochs=EPOCHS, learning_rate=0.05, schedule="cosine", warm_up=0.1)
BATCH, DECAY, HIDDEN = 128, 2e-3, 256


class Data(NamedTuple):
    """Features of images in some views, `(N, V, F)`, their labels, and held-out images."""

    x: Tensor
    given: Tensor
    true: Tensor
    x_held: Tensor
    true_held: Tensor
    classes: int


def data(column: str, seed: int) -> Data:
    """Return the data of a column, with its wrong labels."""
    found, classes = features(), 10
    chosen, held = torch.arange(COUNT), torch.arange(len(found.true_held))
    if column in FIVE:
        classes = 5
        chosen = (found.true < classes).nonzero()[: FIVE[column], 0]
        held = (found.true_held < classes).nonzero()[:, 0]
    true = found.true[chosen]
    x = found.x[chosen].float()
    mean, spread = x.mean((0, 1)), x.std((0, 1)) + 1e-3
    return Data(
        (x - mean) / spread, _given(column, true, classes, seed), true,
        (found.x_held[held].float() - mean) / spread, found.true_held[held], classes,
    )  # fmt: skip


def _given(column: str, true: Tensor, classes: int, seed: int) -> Tensor:
    noise = "symmetric:0.2" if column in FIVE else TEN[column]
    if noise is None:
        return true
    if column in FIVE:
        blank = torch.zeros(len(true), 1, 1, 1, dtype=torch.uint8)
        few = Samples(blank, true, tuple("abcde"[:classes]))
        return corrupt_samples(few, parse_noise(noise), seed=seed).given_label
    whole = load_data("cifar10").train  # human labels are those of all images
    if noise.startswith("human"):
        return corrupt_samples(whole, parse_noise(noise), seed=seed).given_label[
            FIRST : FIRST + COUNT
        ]
    part = whole.rows(torch.arange(FIRST, FIRST + COUNT))
    return corrupt_samples(part, parse_noise(noise), seed=seed).given_label


def student(inputs: int, classes: int) -> nn.Module:
    layers: list[nn.Module] = []
    for width in (inputs, HIDDEN):
        layers += [nn.Linear(width, HIDDEN, bias=False), nn.BatchNorm1d(HIDDEN), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(HIDDEN, classes))


class Training:
    """A student on the features of one column, taught by one method.

    Args:
        found: the data.
        way: the name of the method.
        seed: fixes the first weights, the order and the views.
    """

    def __init__(self, found: Data, way: str, seed: int) -> None:
        self.found, self.records = found, Records(len(found.x), classes=found.classes)
        self.steps, self.draw = max(1, round(len(found.x) / BATCH)), generator(seed, 99)
        with seeded(seed):
            self.net = student(found.x.shape[2], found.classes)
        self.total = EPOCHS * self.steps
        self.supervision = make_method(way).start(
            Task(len(found.x), found.classes, self.total, seed=seed,
                 is_correct=found.given == found.true)
        )  # fmt: skip
        fabric = Fabric(accelerator="cpu", devices=1)
        self.step = TrainingStep(fabric, self.net, self.supervision, Processes())
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
        self.decayed = [weight for weight in self.net.parameters() if weight.ndim > 1]

    def epoch(self, epoch: int) -> None:
        self.net.train()
        self.supervision.begin_epoch(epoch)
        x, given = self.found.x, self.found.given
        order = torch.randperm(len(x), generator=self.draw).tensor_split(self.steps)
        for number, index in enumerate(order, epoch * self.steps):
            view = torch.randint(x.shape[1], (len(index),), generator=self.draw)
            rate = learning_rate(OPTIMISER, number, self.total)
            self.sgd.param_groups[0]["lr"] = rate
            self.sgd.zero_grad()
            done = self.step.take(Batch(index, x[index, view], given[index]), rate)
            decays = torch.ones(1) if done.decays is None else done.decays
            add_weight_decay(self.decayed, DECAY, decays)
            self.sgd.step()
            seen = done.evidence
            self.records.add(
                index, seen.losses, done.trust, seen.predicted, seen.labels, epoch, seen.margins
            )
        self.supervision.end_epoch(epoch)

    @torch.no_grad()
    def accuracy(self) -> float:
        self.net.eval()
        return 100 * _mean(self.net(self.found.x_held).argmax(1) == self.found.true_held)


def run(column: str, way: str, seed: int) -> dict[str, Any]:
    """Train once, and return what the table shows."""
    started, found = time.perf_counter(), data(column, seed)
    training, accuracy = Training(found, way, seed), []
    for epoch in range(EPOCHS):
        training.epoch(epoch)
        if column in FIVE or epoch % 4 == 3:
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


def cells(only: str | None = None) -> Iterator[tuple[str, str, int, Path]]:
    """List column, way, seed and file of every run; all runs with seed 0 come first."""
    for seed in (0, 1):
        for way in WAYS:
            for column in (*FIVE, *TEN):
                if seed < SEEDS.get(way, 1) and only in (None, column):
                    name = f"{column}-{way}-{seed}.json".replace(" ", "-")
                    yield column, way, seed, RESULTS / name


def table() -> str:
    """Return accuracies, and what small folders show besides, as Markdown."""
    found = {(column, way, seed): read_json(path) for column, way, seed, path in cells()
             if path.is_file()}  # fmt: skip
    columns = [*FIVE, *TEN]
    lines = [f"| last epoch | {' | '.join(columns)} |", f"|---{'|---' * len(columns)}|"]
    for way in WAYS:
        for seed in (0, 1):
            row = [found.get((column, way, seed)) for column in columns]
            if any(row):
                cells_ = (f"{one['accuracy']:.1f}" if one else "–" for one in row)
                lines.append(f"| {way}{', seed 1' if seed else ''} | {' | '.join(cells_)} |")
    lines += ["", "| column | method | seed | last | best | wrong | estimate | AUROC of v | audit: "
              "found | of them wrong |", f"|---{'|---' * 9}|"]  # fmt: skip
    for (column, way, seed), one in found.items():
        numbers = (one.get(key) for key in ("wrong", "estimate", "auroc", "recall", "precision"))
        shown = " | ".join("–" if number is None else f"{number:.2f}" for number in numbers)
        lines.append(
            f"| {column} | {way} | {seed} | {one['accuracy']:.1f} | {one['best']:.1f} | {shown} |"
        )
    return "\n".join(lines)


def main(only: str | None = None) -> None:
    torch.set_num_threads(1)
    for column, way, seed, path in cells(None if only == "table" else only):
        if only != "table" and not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, run(column, way, seed) | {"conditions": conditions()})
            print(f"{column:16} {way:20} {seed} {read_json(path)['accuracy']:.1f}", flush=True)
    print(table())


if __name__ == "__main__":
    main(*sys.argv[1:])
