"""What our trainer costs against a plain loop, and a full DD step against a FullModel step.

    make bench

A step is all of it: fetch, augment, forward, backward, update. The fast student, B = 128, images
of 3 × 32 × 32, as many threads as torch takes by itself. The trainer is held to 0.97 of the plain
loop's throughput, the DD step (learned mentor, records, verified samples, scaled weight decay) to
1.02 of FullModel's. The figures go to results/bench/training_cost.json, with their conditions.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from benchmarks.timing import alternate, ratio
from mentornet.config import LabelsConfig, MachineConfig, MethodConfig, OptimiserConfig, TrainConfig
from mentornet.data import Batch, Samples, Splits, augment, standardise
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from mentornet.methods.weighted import Weighted
from mentornet.randomness import generator
from mentornet.students import make_student
from mentornet.training import Trainer, prepare

RESULT = Path(__file__).parents[1] / "results" / "bench" / "training_cost.json"
COUNT, BATCH = 2560, 128
THROUGHPUT, STEP = 0.97, 1.02
ROUNDS = 200


def splits() -> Splits:
    draw = generator(0)
    pixels = torch.randint(256, (COUNT, 3, 32, 32), dtype=torch.uint8, generator=draw)
    label = torch.randint(10, (COUNT,), generator=draw)
    images = Samples(pixels, label, tuple("abcdefghij"))
    return Splits(images, images.rows(slice(0, 100)))


def trainer(method: str) -> Trainer:
    config = TrainConfig(
        "cifar10",
        labels=LabelsConfig("uniform:0.4", clean_count=500 if method == "mentornet-dd" else None),
        method=MethodConfig(method, ("burn_in=0",) if method == "mentornet-dd" else ()),
        optimiser=OptimiserConfig(epochs=1000, batch_size=BATCH),
        machine=MachineConfig(precision="32", compile="off", channels_last="on"),
    )
    return Trainer(prepare(config, splits=splits()))


def steps_of(made: Trainer) -> Callable[[], None]:
    def batches() -> Iterator[tuple[int, Batch]]:
        for epoch in itertools.count():
            for batch in made.batches.epoch(epoch):
                yield epoch, batch

    source = batches()
    made.student.train()

    def step() -> None:
        epoch, batch = next(source)
        made.step(batch, epoch)

    return step


def plain_steps() -> Callable[[], None]:
    images = prepare(
        TrainConfig("cifar10", labels=LabelsConfig("uniform:0.4")), splits=splits()
    ).train
    student: Any = make_student("fast", channels=3, classes=10)
    student.prepare(standardise(images.tensor[:100]))  # as the trainer does: its stem is frozen
    student = student.to(memory_format=torch.channels_last)
    learned = [part for part in student.parameters() if part.requires_grad]
    sgd = torch.optim.SGD(learned, lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    student.train()

    def batches() -> Iterator[torch.Tensor]:
        for epoch in itertools.count():
            order = torch.randperm(COUNT, generator=generator(0, 1, epoch))
            yield from order.split(BATCH)

    source, draws = batches(), generator(0)

    def step() -> None:
        index = next(source)
        pixels = augment(images.tensor[index], generator=draws, padding=2)
        inputs = standardise(pixels).to(memory_format=torch.channels_last)
        loss = cross_entropy(student(inputs), images.given_label[index])
        sgd.zero_grad()
        loss.backward()
        sgd.step()

    return step


def learned(made: Trainer) -> Trainer:
    """A DD trainer whose mentor has been learned, as for most of a run."""
    step, supervision = steps_of(made), made.supervision
    assert isinstance(supervision, Weighted)
    assert supervision.engine.learning is not None
    for _ in range(made.batches.steps):
        step()
    supervision.engine.learning.due = [made.steps_done]
    step()
    return made


def main() -> int:
    functions = {
        "plain loop": plain_steps(),
        "FullModel": steps_of(trainer("full-model")),
        "DD": steps_of(learned(trainer("mentornet-dd"))),
    }
    seconds = alternate(functions, rounds=ROUNDS, calls=1)
    throughput = ratio(seconds, "plain loop", "FullModel")
    step = ratio(seconds, "DD", "FullModel")
    for name, (median, lower, upper), limit in (
        ("throughput of the trainer / plain loop", throughput, f"at least {THROUGHPUT}"),
        ("DD step / FullModel step", step, f"at most {STEP}"),
    ):
        print(f"{name}: {median:.3f} (quartiles {lower:.3f}–{upper:.3f}), {limit}")
    holds = throughput[0] >= THROUGHPUT and step[0] <= STEP
    write_json(
        RESULT,
        {
            "throughput_ratio": throughput, "dd_step_ratio": step, "rounds": ROUNDS,
            "threads": torch.get_num_threads(), "holds": holds, "conditions": conditions(),
        },
    )  # fmt: skip
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
