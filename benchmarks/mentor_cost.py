"""What a mentor's forward costs, against a two-layer perceptron of as many parameters.

    make bench

The bi-LSTM at T = 1, without gradient, is held to 4 times the perceptron. The perceptron is the
barest there is: four numbers a sample in, one weight out, no embeddings, nothing to gather.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import nn

from benchmarks.timing import alternate, ratio
from mentornet import MentorFeatures, make_mentor
from mentornet.experiments.conditions import conditions
from mentornet.mentors.lstm import LSTMEncoder
from mentornet.randomness import generator, seeded

LIMIT = 4.0
BATCHES = (128, 4096)


def perceptron(parameters: int) -> nn.Module:
    """4 → H → 1 with H chosen for that many parameters: 6 H + 1."""
    with seeded(0):
        hidden = nn.Linear(4, round((parameters - 1) / 6))
        return nn.Sequential(hidden, nn.Tanh(), nn.Linear(hidden.out_features, 1), nn.Sigmoid())


def features_of(batch: int) -> MentorFeatures:
    draw = generator(0)
    return MentorFeatures.from_loss(
        torch.rand(batch, generator=draw) * 5,
        percentile=2.0,
        label=torch.randint(10, (batch,), generator=draw),
        epoch=torch.full((batch,), 42),
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


def report(what: str, measured: tuple[float, float, float]) -> float:
    median, lower, upper = measured
    print(f"{what:64} {median:5.2f} (quartiles {lower:.2f}–{upper:.2f})")
    return median


def main() -> int:
    facts = conditions()
    print(f"torch {facts['torch']}, {facts['processor']}, {torch.get_num_threads()} threads")
    worst = 0.0
    for batch in BATCHES:
        what = f"bi-LSTM mentor / perceptron of as many parameters, B = {batch}"
        worst = max(worst, report(what, measure_mentor(batch)))
        report(f"nn.LSTM / ours, T = 1, no gradient, B = {batch}",
               measure_lstm(batch, 1, backward=False))  # fmt: skip
    report("nn.LSTM / ours, T = 10, forward and backward, B = 256",
           measure_lstm(256, 10, backward=True))  # fmt: skip
    if worst > LIMIT:
        print(f"too slow: the mentor takes {worst:.2f} > {LIMIT} perceptrons", file=sys.stderr)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
