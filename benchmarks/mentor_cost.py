"""What a mentor's forward pass costs, in units of a student's step.

    make bench

The bi-LSTM at T = 1, without gradient, is held to 0.02 of a step of the fast student at half its
width: forward, backward and update on images of 3 × 32 × 32. Two more ratios say where its time
goes; no limit is set to them, because they depend on the processor more than on the code. One is to
a two-layer perceptron of as many parameters: four numbers a sample in, ReLU, one weight out, no
embeddings. The other is to nn.LSTM. All on one thread. The metrics go to
results/bench/mentor_cost.json, with their conditions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.timing import alternate, ratio
from mentornet import MentorFeatures, make_mentor
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from mentornet.mentors.lstm import LSTMEncoder
from mentornet.randomness import generator, seeded
from mentornet.students import make_student

LIMIT = 0.02
RESULT = Path(__file__).parents[1] / "results" / "bench" / "mentor_cost.json"
BATCHES = (128, 4096)
STEP = "mentor / step of the student, B = 128"


def perceptron(parameters: int) -> nn.Module:
    """4 → H → 1 with H chosen for that many parameters: 6 H + 1."""
    with seeded(0):
        hidden = nn.Linear(4, round((parameters - 1) / 6))
        return nn.Sequential(hidden, nn.ReLU(), nn.Linear(hidden.out_features, 1), nn.Sigmoid())


def features_of(batch: int) -> MentorFeatures:
    draw = generator(0)
    return MentorFeatures.from_loss(
        torch.rand(batch, generator=draw) * 5,
        loss_level=2.0,
        label=torch.randint(10, (batch,), generator=draw),
        progress=torch.full((batch,), 42),
    )


@torch.no_grad()
def measure_mentor(batch: int) -> tuple[float, float, float]:
    mentor = make_mentor("bilstm").eval()
    twin = perceptron(mentor.num_parameters)
    features, plain = features_of(batch), torch.rand(batch, 4, generator=generator(1))
    seconds = alternate({"mentor": lambda: mentor(features), "mlp": lambda: twin(plain)})
    return ratio(seconds, "mentor", "mlp")


def measure_step() -> tuple[float, float, float]:
    """The time of a mentor's forward pass in units of a student's step."""
    mentor, features = make_mentor("bilstm").eval(), features_of(128)
    with seeded(0):
        student: Any = make_student("fast", channels=3, classes=10, width=16)
    student = student.to(memory_format=torch.channels_last)
    learned = [part for part in student.parameters() if part.requires_grad]
    optimiser = torch.optim.SGD(learned, lr=0.0, momentum=0.9)
    images = torch.rand(128, 3, 32, 32, generator=generator(2))
    images = images.to(memory_format=torch.channels_last)

    def step() -> None:
        optimiser.zero_grad()
        cross_entropy(student(images), features.label).backward()
        optimiser.step()

    @torch.no_grad()
    def weigh() -> None:
        mentor(features)

    return ratio(alternate({"mentor": weigh, "step": step}, calls=5), "mentor", "step")


def measure_lstm(batch: int, steps: int, *, backward: bool) -> tuple[float, float, float]:
    """The time of nn.LSTM in units of ours."""
    with seeded(0):
        ours, theirs = LSTMEncoder(2, 10), nn.LSTM(2, 10, bidirectional=True)
    sequence = torch.rand(steps, batch, 2, generator=generator(0))
    turned = sequence.transpose(1, 2).contiguous()

    def run(encode: Callable[[], torch.Tensor]) -> None:
        with torch.set_grad_enabled(backward):
            encoded = encode().sum()
        if backward:
            encoded.backward()

    seconds = alternate(
        {
            "theirs": lambda: run(lambda: theirs(sequence)[1][0]),
            "ours": lambda: run(lambda: ours(turned)),
        },
        rounds=20,
        calls=20,
    )
    return ratio(seconds, "theirs", "ours")


def main() -> int:
    torch.set_num_threads(1)
    measured: dict[str, tuple[float, float, float]] = {STEP: measure_step()}
    for batch in BATCHES:
        measured[f"mentor / perceptron, B = {batch}"] = measure_mentor(batch)
    for batch in BATCHES:
        name = f"nn.LSTM / ours, T = 1, no gradient, B = {batch}"
        measured[name] = measure_lstm(batch, 1, backward=False)
    name = "nn.LSTM / ours, T = 10, forward and backward, B = 256"
    measured[name] = measure_lstm(256, 10, backward=True)
    for name, (median, lower, upper) in measured.items():
        print(f"{name:56} {median:6.3f} (quartiles {lower:.3f}–{upper:.3f})")
    names = ("median", "lower_quartile", "upper_quartile")
    ratios = {
        name: dict(zip(names, [round(part, 4) for part in parts], strict=True))
        for name, parts in measured.items()
    }
    facts = {"command": "make bench", "threads": 1, **conditions()}
    write_json(RESULT, {"conditions": facts, "ratios": ratios})
    cost = measured[STEP][0]
    if cost > LIMIT:
        print(f"too slow: the mentor takes {cost:.3f} > {LIMIT} of a step", file=sys.stderr)
    return int(cost > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
