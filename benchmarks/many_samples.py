"""What 2.4 million samples cost over 24,000: a step, memory, the start, a checkpoint.

    make bench

Numbers and labels are there for every sample, as many as the web images of the paper's last
experiment; their pictures, of 3 × 32 × 32, are overlapping pieces of one block of random bytes, as
large for both. MentorNet DD with verified samples, records of every sample, the fast student,
B = 128. A step of 2.4 million is held to 1.05 of one of 24,000; what is kept of a sample to 64
bytes: all tensors as long as the dataset, so labels, order of the epoch, records, the method's own;
the start to 30 seconds: noise, verified samples, trainer, first batch; the end of an epoch with its
checkpoint to 10. The figures go to results/bench/many_samples.json, with their conditions; not if
`--rounds` are given.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.timing import alternate, ratio
from mentornet.config import LabelsConfig, MachineConfig, MethodConfig, OptimiserConfig, TrainConfig
from mentornet.data import Batch, Samples, Splits
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from mentornet.randomness import generator
from mentornet.training import RunFolder, Trainer, prepare

RESULT = Path(__file__).parents[1] / "results" / "bench" / "many_samples.json"
FEW, MANY, BATCH = 24_000, 2_400_000, 128
BLOCK = 64_000_000  # bytes that the pictures are cut from
STEP, BYTES, START, CHECKPOINT = 1.05, 64.0, 30.0, 10.0
ROUNDS = 100


def splits(count: int, classes: int = 1000) -> Splits:
    draw = generator(0)
    block = torch.randint(256, (BLOCK,), dtype=torch.uint8, generator=draw)
    apart = (BLOCK - 3 * 32 * 32) // count
    pixels = block.as_strided((count, 3, 32, 32), (apart, 32 * 32, 32, 1))
    label = torch.randint(classes, (count,), generator=draw)
    images = Samples(pixels, label, tuple(f"class {number}" for number in range(classes)))
    return Splits(images, images.rows(slice(0, 100)))


def trainer(count: int, run: RunFolder | None = None) -> Trainer:
    config = TrainConfig(
        "webvision",
        labels=LabelsConfig("uniform:0.4", clean_count=5000),
        method=MethodConfig("mentornet-dd", ("burn_in=0",)),
        optimiser=OptimiserConfig(epochs=100, batch_size=BATCH),
        machine=MachineConfig(precision="32", compile="off", channels_last="on"),
    )
    prepared = prepare(config, splits=splits(count))
    vars(prepared)["digest"] = "0" * 64  # of pictures that no memory would hold
    return Trainer(prepared, run)


def batches_of(made: Trainer) -> Iterator[tuple[int, Batch]]:
    made.student.train()
    for epoch in itertools.count():
        for batch in made.batches.epoch(epoch):
            yield epoch, batch


def stepping(made: Trainer, source: Iterator[tuple[int, Batch]]) -> Callable[[], None]:
    def step() -> None:
        epoch, batch = next(source)
        made.step(batch, epoch)

    return step


def bytes_a_sample(count: int) -> float:
    """Of all tensors that are as long as the dataset, but the pictures; each memory once."""
    found: dict[int, int] = {}
    for thing in gc.get_objects():
        if type(thing) is Tensor and 0 < thing.ndim < 4 and len(thing) == count:
            found[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
    return sum(found.values()) / count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help="steps of each that are timed; at least 2")
    given = parser.parse_args()
    rounds = given.rounds or ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder) / "run")
        run.path.mkdir()
        run.config.touch()  # it marks the folder of a run
        started = time.perf_counter()
        many = trainer(MANY, run)
        source = batches_of(many)
        first = next(source)
        start = time.perf_counter() - started
        many.step(first[1], first[0])
        size = bytes_a_sample(MANY)
        few = trainer(FEW)
        steps = {"many": stepping(many, source), "few": stepping(few, batches_of(few))}
        step = ratio(alternate(steps, rounds=rounds, calls=1), "many", "few")
        many.records.loss.nan_to_num_(1.0)  # as if the epoch had been whole
        started = time.perf_counter()
        many.close_epoch(1.0)
        many.save(run)
        checkpoint = time.perf_counter() - started
    holds = step[0] <= STEP and size <= BYTES and start <= START and checkpoint <= CHECKPOINT
    print(
        f"{MANY:,} samples against {FEW:,}: a step takes {step[0]:.3f} (quartiles "
        f"{step[1]:.3f}–{step[2]:.3f}), at most {STEP}; {size:.0f} bytes a sample, at most "
        f"{BYTES:.0f}; start {start:.1f} s, at most {START:.0f}; end of an epoch with checkpoint "
        f"{checkpoint:.1f} s, at most {CHECKPOINT:.0f}"
    )
    if given.rounds is None:
        write_json(
            RESULT,
            {
                "step_ratio": step, "bytes_a_sample": size, "start_seconds": start,
                "checkpoint_seconds": checkpoint, "rounds": rounds, "holds": holds,
                "threads": torch.get_num_threads(), "conditions": conditions(),
            },
        )  # fmt: skip
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
