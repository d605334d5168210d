"""What two processes of one thread gain over one, and what SPADE's exchange costs them.

    make bench

The fast student, MentorNet PD, images of 3 × 32 × 32, the same whole batch for one process and for
two. A step is all of it: fetch, augment, forward, exchange, weights, backward, the sum of the
gradients, update. Blocks of steps take turns: while the two work, the one waits, and the other way
round. At B = 512 the two are held to 1.8 times the images a second of the one; at B = 256 the
gradients, which do not get fewer, are summed for half the work. The exchange, timed for itself with
both processes ready, is held to 2 % of their step. (The sums of gradients and of batch norm are
no part of it: they are what sharing a step costs any method.) The figures go to
results/bench/sharing_cost.json, with their conditions; not if `--rounds` or `--steps` are given.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from mentornet.config import LabelsConfig, MachineConfig, MethodConfig, OptimiserConfig, TrainConfig
from mentornet.data import Samples, Splits
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from mentornet.randomness import generator
from mentornet.training import Trainer, prepare

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "results" / "bench" / "sharing_cost.json"
COUNT, BATCHES, HELD = 50_000, (256, 512), 512
FASTER, EXCHANGE = 1.8, 0.02
ROUNDS, STEPS, EXCHANGES = 20, 4, 100


def trainer(batch: int) -> Trainer:
    draw = generator(0)
    pixels = torch.randint(256, (COUNT, 3, 32, 32), dtype=torch.uint8, generator=draw)
    images = Samples(pixels, torch.randint(10, (COUNT,), generator=draw), tuple("abcdefghij"))
    config = TrainConfig(
        "cifar10",
        labels=LabelsConfig("uniform:0.4"),
        method=MethodConfig("mentornet-pd"),
        optimiser=OptimiserConfig(epochs=1000, batch_size=batch),
        machine=MachineConfig(precision="32", compile="off", channels_last="on"),
    )
    return Trainer(prepare(config, splits=Splits(images, images.rows(slice(0, 100)))))


class Worker:
    """A process that works when it is told to.

    Args:
        batch: of all that share it.
        environment: what makes it one of several.
    """

    def __init__(self, batch: int, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.sharing_cost", "--worker", f"{batch}"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )  # fmt: skip

    def tell(self, what: str) -> None:
        assert self.process.stdin is not None
        print(what, file=self.process.stdin, flush=True)

    def seconds(self) -> float:
        """How long that took."""
        assert self.process.stdout is not None
        return float(self.process.stdout.readline())


def workers(batch: int, world: int) -> list[Worker]:
    if world == 1:
        return [Worker(batch, {})]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}", "TORCHELASTIC_RUN_ID": "bench",
        "WORLD_SIZE": f"{world}", "LOCAL_WORLD_SIZE": f"{world}", "GROUP_RANK": "0",
    }  # fmt: skip
    return [
        Worker(batch, {**shared, "RANK": f"{rank}", "LOCAL_RANK": f"{rank}"})
        for rank in range(world)
    ]


def seconds(team: list[Worker], what: str) -> float:
    """What all of them take for it together."""
    for worker in team:
        worker.tell(what)
    return max([worker.seconds() for worker in team])


def work(batch: int) -> None:
    """Do what standard input says, and tell the seconds: `step N` or `exchange N`."""
    torch.set_num_threads(1)
    made = trainer(batch)
    made.student.train()
    source = made.batches.epoch(0)
    columns = [
        torch.zeros(made.processes.share(batch).stop - made.processes.share(batch).start)
    ] * 3
    for line in sys.stdin:
        what, number = line.split()
        made.processes.wait()
        started = time.perf_counter()
        for _ in range(int(number)):
            if what == "step":
                made.step(next(source), 0)
            else:
                made.processes.gather(columns, batch)
        print(time.perf_counter() - started, flush=True)
    os._exit(0)


def measure(batch: int, rounds: int, steps: int) -> dict[str, tuple[float, float, float]]:
    """Medians and quartiles over the rounds."""
    one, two = workers(batch, 1), workers(batch, 2)
    faster, share = [], []
    for number in range(rounds + 1):
        alone, both = (seconds(team, f"step {steps}") / steps for team in (one, two))
        exchange = seconds(two, f"exchange {EXCHANGES}") / EXCHANGES
        if number:  # the first is to warm up
            faster.append(alone / both)
            share.append(exchange / both)
    for worker in (*one, *two):
        worker.process.communicate()
    return {"faster": _spread(faster), "exchange": _spread(share)}


def _spread(values: list[float]) -> tuple[float, float, float]:
    lower, median, upper = statistics.quantiles(values, n=4)
    return median, lower, upper


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help="how often all take their turn; at least 2")
    parser.add_argument("--steps", type=int, help="a turn")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        work(given.worker)
    rounds, steps = given.rounds or ROUNDS, given.steps or STEPS
    found, holds = {}, True
    for batch in BATCHES:
        found[f"batch_{batch}"] = figures = measure(batch, rounds, steps)
        (gain, *gains), (cost, *costs) = figures["faster"], figures["exchange"]
        print(
            f"B = {batch}: two processes / one: {gain:.2f} times the images a second (quartiles "
            f"{gains[0]:.2f}–{gains[1]:.2f}), at B = {HELD} at least {FASTER}; "
            f"the exchange is {cost:.2%} of the step (quartiles {costs[0]:.2%}–"
            f"{costs[1]:.2%}), at most {EXCHANGE:.0%}"
        )
        holds = holds and (gain >= FASTER or batch != HELD) and cost <= EXCHANGE
    if given.rounds is None and given.steps is None:
        figures_and = {"rounds": rounds, "steps_a_turn": steps, "threads_each": 1, "holds": holds}
        write_json(RESULT, {**found, **figures_and, "conditions": conditions()})
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
