"""The runs of the corpus: which data, which noise, which student, and how it is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from mentornet.randomness import generator

__all__ = ["ROUNDS", "Spec", "specs"]

T = TypeVar("T")

ROUNDS = 3
"""Rounds of the corpus; each has as many runs on every dataset as `_SHARES` says."""

_SHARES = {
    "cifar10": 5, "cifar100": 6, "fashion-mnist": 5, "digits": 4, "cifar100-features": 4,
    "fashion-pixels": 3, "trec": 3, "semeval": 2, "yoruba-news": 2, "music-one-worker": 2,
    "wine": 1, "breast_cancer": 2,
}  # fmt: skip
_GIVEN = {"cifar10", "trec", "semeval", "yoruba-news", "music-one-worker"}
_FEW = _GIVEN - {"cifar10"} | {"wine", "breast_cancer"}  # all samples are taken
_KINDS = (
    "uniform", "symmetric", "pairflip", "paired", "paired", "instance", "weak", "weak", "clean",
    "given",
)  # fmt: skip
_MOST = {"pairflip": 0.45, "paired": 0.45, "instance": 0.5, "weak": 0.4}
_RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_POLICIES = ("early", "early", "early", "plain")


@dataclass(frozen=True)
class Spec:
    """One run.

    Attributes:
        number: its number, which fixes all its draws.
        data: the name of the dataset.
        classes: K, so many of the dataset's classes; None for all.
        count: N at most.
        kind: the kind of noise; given for labels that people or rules gave.
        rate: its rate.
        width: of the student.
        epochs: how often each sample is seen.
        batch: samples in a batch.
        learning_rate: the highest.
        policy: early, or plain for plain training.
    """

    number: int
    data: str
    classes: int | None
    count: int
    kind: str
    rate: float
    width: int
    epochs: int
    batch: int
    learning_rate: float
    policy: str

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.number:03}-{self.data}-{self.kind}-{self.rate:g}-{self.policy}"


def specs(rounds: int = ROUNDS) -> list[Spec]:
    """Return the runs of so many rounds; those of fewer rounds are the first of them."""
    names = [name for name, times in _SHARES.items() for _ in range(times)]
    found = []
    for number in range(rounds * len(names)):
        order = torch.randperm(len(names), generator=generator(number // len(names), 12))
        found.append(_spec(number, names[int(order[number % len(names)])]))
    return found


def _spec(number: int, data: str) -> Spec:
    draws = generator(number, 11)

    def one_of(values: Sequence[T]) -> T:
        return values[int(torch.randint(len(values), (1,), generator=draws))]

    kind, rate, classes = one_of(_KINDS), 0.0, None
    if kind == "given" and data not in _GIVEN:
        kind = "weak"
    if kind not in ("clean", "given"):
        rate = one_of([rate for rate in _RATES if rate <= _MOST.get(kind, 1)])
    if data in ("cifar100", "cifar100-features"):
        classes = one_of((5, 10, 10, 20, 50))
    elif data in ("cifar10", "fashion-mnist", "fashion-pixels", "digits"):
        classes = one_of((None, None, None, 5, 3))
    if data in ("cifar10", "cifar100", "fashion-mnist", "digits"):
        colour, tiny = data.startswith("cifar"), data == "digits"
        width = one_of((8, 12, 16) if colour else (8, 16))
        count = one_of((400, 1797) if tiny else (500, 1500, 3000, 5000))
        epochs = one_of((20, 40, 60) if tiny else (16, 24, 32, 40))
        learning_rate = one_of((0.05, 0.1, 0.2) if colour else (0.02, 0.05, 0.1))
        batch = one_of((64, 128)) if count > 1000 else 32
    else:
        width, count, epochs = one_of((64, 256)), one_of((500, 1500, 5000)), one_of((10, 20, 40))
        learning_rate, batch = one_of((0.01, 0.03, 0.1)), one_of((32, 64))
    if data in _FEW:
        count = 5000
    return Spec(
        number, data, classes, count, kind, rate, width, epochs, batch, learning_rate,
        one_of(_POLICIES),
    )  # fmt: skip
