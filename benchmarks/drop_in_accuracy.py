"""What one line changes: `MentorLoss` in place of cross-entropy, in the same plain loop.

    python -m benchmarks.drop_in_accuracy digits cifar10

The loop, the student, the batches and the steps are the same; only the criterion differs, and that
the weight decay follows its weights (`scale_weight_decay`). It is told neither the noise rate nor
any clean label; which sample is which it is told for the estimate of the noise rate, and what that
is without is noted too. Digits: the small CNN, 50 epochs. CIFAR-10: 10,000
of its training images, the fast student at half its width, 25 epochs; it needs MENTORNET_DATA.
Noise is symmetric (wrong classes only) on digits and uniform (all classes, as in the paper) on
CIFAR-10, where the student is judged after every fifth epoch only. Runs that are in
results/drop_in/drop_in.json already are not made again.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from mentornet import MentorLoss, scale_weight_decay
from mentornet.config import FilesConfig, LabelsConfig, OptimiserConfig, StudentConfig, TrainConfig
from mentornet.experiments.conditions import conditions
from mentornet.files import read_json, write_json
from mentornet.training import Trainer, prepare

RESULT = Path(__file__).parents[1] / "results" / "drop_in" / "drop_in.json"
SEEDS = 3
JUDGED = {"digits": 1, "cifar10": 5}  # epochs from one look at the test images to the next


class Cell(NamedTuple):
    """One run."""

    data: str
    noise: str
    criterion: str
    seed: int


CONFIGS = {
    "digits": TrainConfig("digits"),
    "cifar10": TrainConfig(
        "cifar10",
        files=FilesConfig(limit=10_000),
        student=StudentConfig(width=16),
        optimiser=OptimiserConfig(epochs=25),
    ),
}


def cells(data: str) -> Iterator[Cell]:
    kind = {"digits": "symmetric", "cifar10": "uniform"}[data]
    compared = {"digits": ("0", "0.1", "0.2", "0.4", "0.6"), "cifar10": ("0.4", "0")}[data]
    for seed in range(SEEDS):
        for rate in compared:
            for criterion in ("MentorLoss", "cross-entropy"):
                yield Cell(data, f"{kind}:{rate}", criterion, seed)
        if data == "cifar10" and seed == 0:  # where only the estimate is asked for
            for rate in ("0.1", "0.2", "0.6"):
                yield Cell(data, f"{kind}:{rate}", "MentorLoss", 0)


def train(cell: Cell) -> dict[str, Any]:
    config = CONFIGS[cell.data]
    config = TrainConfig(
        config.data, cell.seed, config.files, LabelsConfig(cell.noise), config.student,
        optimiser=config.optimiser,
    )  # fmt: skip
    prepared = prepare(config)
    made = Trainer(prepared)  # lends its data and its fresh student
    student, optimiser = made.module, prepared.config.optimiser
    weights = [part for part in student.parameters() if part.requires_grad]
    rate = optimiser.learning_rate
    assert rate is not None
    sgd = torch.optim.SGD(
        weights, lr=rate, momentum=0.9, nesterov=True, weight_decay=optimiser.weight_decay or 0.0
    )
    total = made.total_steps
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        sgd, rate, total_steps=total, pct_start=0.1, cycle_momentum=False, div_factor=100
    )
    criterion: nn.Module = nn.CrossEntropyLoss()
    if cell.criterion == "MentorLoss":
        criterion = MentorLoss(total_steps=total, samples=len(prepared.train))
        scale_weight_decay(sgd, criterion)
    accuracies = []
    started = time.perf_counter()
    assert made.epochs % JUDGED[cell.data] == 0
    for epoch in range(made.epochs):
        student.train()
        for batch in made.batches.epoch(epoch):
            named = {"index": batch.index} if isinstance(criterion, MentorLoss) else {}
            loss = criterion(student(batch.inputs), batch.given_label, **named)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            schedule.step()
        if (epoch + 1) % JUDGED[cell.data] == 0:
            accuracies.append(made.evaluate(prepared.test).accuracy)
    found: dict[str, Any] = {
        **cell._asdict(),
        "accuracy_last": accuracies[-1],
        "accuracy_best": max(accuracies),
        "noise_rate_actual": prepared.noise_rate or 0.0,
        "seconds": time.perf_counter() - started,
    }
    if isinstance(criterion, MentorLoss):
        found["noise_rate"] = criterion.noise_estimate().rate
        found["noise_rate_without_index"] = criterion.noise.estimate().rate
    return found


def main() -> None:
    torch.set_num_threads(1)
    only = [int(word) for word in sys.argv[1:] if word.isdigit()]  # seeds, for several at a time
    for data in [word for word in sys.argv[1:] if not word.isdigit()] or CONFIGS:
        for cell in (cell for cell in cells(data) if not only or cell.seed in only):
            if cell in {tuple(run[name] for name in Cell._fields) for run in stored()}:
                continue
            run = {**train(cell), "conditions": conditions()}
            print(json.dumps(run), flush=True)
            write_json(RESULT, {"runs": [*stored(), run]})  # another process may have added some
    print(markdown(stored()))


def stored() -> list[dict[str, Any]]:
    """The runs made so far."""
    runs: list[dict[str, Any]] = read_json(RESULT)["runs"] if RESULT.exists() else []
    return runs


def markdown(runs: list[dict[str, Any]]) -> str:
    """Last epoch, mean and range over the seeds, the best epoch after it; and the noise rates."""
    lines = [
        "| data | labels wrong | cross-entropy | `MentorLoss` | estimated | without `index=` |",
        "|---|---|---|---|---|---|",
    ]
    for data, noise in sorted({(run["data"], run["noise"]) for run in runs}, reverse=True):
        same = [run for run in runs if (run["data"], run["noise"]) == (data, noise)]
        ours = [run for run in same if run["criterion"] == "MentorLoss"]
        theirs = [run for run in same if run["criterion"] != "MentorLoss"]
        wrong, found, without = (
            f"{100 * sum(run[name] for run in ours) / len(ours):.1f}"
            for name in ("noise_rate_actual", "noise_rate", "noise_rate_without_index")
        )
        cells = (data, wrong, _accuracies(theirs), _accuracies(ours), found, without)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _accuracies(runs: list[dict[str, Any]]) -> str:
    if not runs:
        return ""
    last = [100 * run["accuracy_last"] for run in runs]
    best = [100 * run["accuracy_best"] for run in runs]
    spread = f" ({min(last):.1f}–{max(last):.1f})" if len(last) > 1 else ""
    return f"{sum(last) / len(last):.1f}{spread}, best {sum(best) / len(best):.1f}"


if __name__ == "__main__":
    main()
