"""A kind of label noise with its rate, such as `uniform:0.4`."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from mentornet.data.noise.transitions import (
    asymmetric,
    corrupt,
    instance,
    pairflip,
    symmetric,
    uniform,
)
from mentornet.data.samples import Samples
from mentornet.errors import MentorNetError, cut
from mentornet.names import did_you_mean

__all__ = ["NOISES", "Noise", "noise_rate"]

_BY_CLASS = {"uniform": uniform, "symmetric": symmetric, "pairflip": pairflip}

NOISES = (*_BY_CLASS, "asymmetric", "instance")


@dataclass(frozen=True)
class Noise:
    """A kind of noise and its rate, such as `uniform:0.4`.

    Args:
        name: one of `NOISES`.
        rate: p in [0, 1].
    """

    name: str
    rate: float

    def __post_init__(self) -> None:
        if self.name not in NOISES:
            known = (*NOISES, "transition", "labels", "human")
            raise MentorNetError(
                f"unknown noise {cut(self.name)!r}; {did_you_mean(self.name, known)}"
            )
        if not 0 <= self.rate <= 1:
            hint = f"; did you mean {self.rate / 100:g}?" if 1 < self.rate <= 100 else ""
            raise MentorNetError(f"noise rate must be in [0, 1], got {self.rate:g}{hint}")

    def __str__(self) -> str:
        short = f"{self.rate:g}"
        return f"{self.name}:{short if float(short) == self.rate else repr(self.rate)}"

    def given_label(self, samples: Samples, *, seed: int) -> Tensor:
        """The labels of the samples after the noise, `(N,)`."""
        label, classes = samples.given_label, len(samples.classes)
        if self.name == "instance":
            return instance(label, samples.tensor, classes, self.rate, seed=seed)
        if self.name == "asymmetric":
            transition = asymmetric(samples.classes, self.rate, samples.groups)
        else:
            transition = _BY_CLASS[self.name](classes, self.rate)
        return corrupt(label, transition, seed=seed)


def noise_rate(given_label: Tensor, true_label: Tensor) -> float:
    """The share of given labels that are wrong, which need not be the rate that was asked for."""
    return (given_label != true_label).double().mean().item()
