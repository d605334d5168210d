"""The runs of the corpus: which data, which noise, which student, and how it is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from mentornet.randomness import generator

__all__ = ["Spec", "specs"]

_SMALL = {"digits", "wine", "breast_cancer", "trec", "semeval", "yoruba-news", "music-one-worker"}
_SHARES = {
    "cifar10": 5, "cifar100": 6, "fashion-mnist": 5, "digits": 4, "cifar100-features": 4,
    "fashion-pixels": 3, "trec": 3, "semeval": 2, "yoruba-news": 2, "music-one-worker": 2,
    "wine": 1, "breast_cancer": 2,
}  # fmt: skip
"""How many runs of a round are on each dataset, of 39."""
_MOST = {"pairflip": 0.45, "paired": 0.45, "instance": 0.5, "weak": 0.4}
_RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_KINDS = (
    "uniform",
    "symmetric",
    "pairflip",
    "paired",
    "paired",
    "instance",
    "weak",
    "weak",
    "clean",
    "given",
)


@dataclass(frozen=True)
class Spec:
    """One run.

    Attributes:
        number: its number, which fixes all its draws.
        data: the name of the dataset.
        classes: K, of the dataset's classes the first drawn ones; None for all.
        count: N at most.
        kind: the kind of noise; given for labels that people or rules gave.
        rate: its rate.
        width: of the student.
        epochs: how often each sample is seen.
        batch: samples in a batch.
        learning_rate: the highest.
        policy: early, elr or plain.
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
        return f"{self.number:03}-{self.data}-{self.kind}-{self.rate:g}-{self.policy}"


def specs(
    rounds: int, policies: tuple[str, ...] = ("early", "early", "early", "plain")
) -> list[Spec]:
    """Return the runs of so many rounds."""
    names = [name for name, times in _SHARES.items() for _ in range(times)]
    found = []
    for number in range(rounds * len(names)):
        draw = generator(number, 11)

        def pick(values, draw=draw):  # type: ignore[no-untyped-def]
            return values[int(torch.randint(len(values), (1,), generator=draw))]

        turn = number % len(names)
        order = torch.randperm(len(names), generator=generator(number // len(names), 12))
        data = names[int(order[turn])]
        kind = pick(_KINDS)
        if kind == "given" and data not in (
            "cifar10",
            "trec",
            "semeval",
            "yoruba-news",
            "music-one-worker",
        ):
            kind = "weak"
        rate = (
            0.0
            if kind in ("clean", "given")
            else pick([r for r in _RATES if r <= _MOST.get(kind, 1)])
        )
        images = data in ("cifar10", "cifar100", "fashion-mnist", "digits")
        classes = None
        if data in ("cifar100", "cifar100-features"):
            classes = pick((5, 10, 10, 20, 50))
        elif data in ("cifar10", "fashion-mnist", "fashion-pixels", "digits"):
            classes = pick((None, None, None, 5, 3))
        if images:
            width = pick((8, 12, 16)) if data.startswith("cifar") else pick((8, 16))
            count = pick((500, 1500, 3000, 5000)) if data != "digits" else pick((400, 1797))
            epochs = pick((16, 24, 32, 40)) if data != "digits" else pick((20, 40, 60))
            rate_of_learning = (
                pick((0.05, 0.1, 0.2)) if data.startswith("cifar") else pick((0.02, 0.05, 0.1))
            )
            batch = pick((64, 128)) if count > 1000 else 32
        else:
            width, count, epochs = pick((64, 256)), pick((500, 1500, 5000)), pick((10, 20, 40))
            rate_of_learning, batch = pick((0.01, 0.03, 0.1)), pick((32, 64))
        if data in _SMALL and data != "digits":
            count = 5000
        found.append(Spec(number, data, classes, count, kind, rate, width, epochs, batch,
                          rate_of_learning, pick(policies)))  # fmt: skip
    return found
