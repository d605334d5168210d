"""What a mentor's forward costs, against a two-layer perceptron of as many parameters.

    make bench

The bi-LSTM at T = 1, without gradient, is held to 4 times the perceptron: four numbers a sample in,
ReLU, one weight out, no embeddings, nothing to gather. All on one thread. The figures go to
results/bench/mentor_cost.json, with their conditions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from benchmarks.timing import alternate, ratio
from mentornet import MentorFeatures, make_mentor
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from mentornet.mentors.lstm import LSTMEncoder
from mentornet.randomness import generator, seeded

LIMIT = 4.0
RESULT = Path(__file__).parents[1] / "results" / "bench" / "mentor_cost.json"
BATCHES = (128, 4096)


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
    measured: dict[str, tuple[float, float, float]] = {}
    for batch in BATCHES:
        measured[f"mentor / perceptron, B = {batch}"] = measure_mentor(batch)
    for batch in BATCHES:
        name = f"nn.LSTM / ours, T = 1, no gradient, B = {batch}"
        measured[name] = measure_lstm(batch, 1, backward=False)
    name = "nn.LSTM / ours, T = 10, forward and backward, B = 256"
    measured[name] = measure_lstm(256, 10, backward=True)
    for name, (median, lower, upper) in measured.items():
        print(f"{name:56} {median:5.2f} (quartiles {lower:.2f}–{upper:.2f})")
    names = ("median", "lower_quartile", "upper_quartile")
    ratios = {
        name: dict(zip(names, [round(figure, 2) for figure in figures], strict=True))
        for name, figures in measured.items()
    }
    facts = {"command": "make bench", "threads": 1, **conditions()}
    write_json(RESULT, {"conditions": facts, "ratios": ratios})
    worst = max(measured[f"mentor / perceptron, B = {batch}"][0] for batch in BATCHES)
    if worst > LIMIT:
        print(f"too slow: the mentor takes {worst:.2f} > {LIMIT} perceptrons", file=sys.stderr)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
