"""The universal mentor: how sure a label is, learned from students of many datasets and noises.

The mentors of the paper read the loss. This one reads evidence that is comparable between datasets,
students and numbers of classes, such as what Bayes' rule makes of a sample's averaged predictions.
It says

    s = Σ_j w_j e_j,

and the probability that the label is correct is σ(s + m). The m depends on how many labels of the
data are wrong, which no other dataset can tell.
Shapes: N samples, J kinds of evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.files import read_json, write_bytes, write_json
from mentornet.mentors.store import FORMAT, OF_EVIDENCE, PRETRAINED, WEIGHTS

__all__ = ["EVIDENCE", "UNIVERSAL", "UniversalMentor", "universal_mentor"]

UNIVERSAL = PRETRAINED / "universal"
"""The folder of the one that ships."""

EVIDENCE = {
    "posterior": "log r(y)/(1 − r(y)), the log-odds that the label y is correct by Bayes' rule",
    "margin": "(log p(y) − max log p(k)) / log K over k ≠ y, of averaged predictions p",
    "mean_loss": "minus the mean loss so far, divided by log K; only benchmarks keep it",
}
"""What such a mentor may read, by name."""


@dataclass(frozen=True)
class UniversalMentor:
    """s = Σ_j w_j e_j, a logistic regression without its constant.

    Args:
        weights: w_j by the name of the evidence, each one of `EVIDENCE`.

    >>> mentor = UniversalMentor({"posterior": 0.5, "margin": 1.0})
    >>> mentor({"posterior": torch.tensor([2.0, -4.0]), "margin": torch.tensor([1.0, -1.0])})
    tensor([ 2., -3.])
    """

    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        unknown = [name for name in self.weights if name not in EVIDENCE]
        if unknown or not self.weights:
            raise MentorNetError(
                f"evidence must be some of {', '.join(EVIDENCE)}, got "
                f"{', '.join(unknown) or 'none'}"
            )

    def __call__(self, evidence: Mapping[str, Tensor]) -> Tensor:
        """Return s, `(N,)`.

        Args:
            evidence: e_j by name, `(N,)` each; at least those that the mentor reads.
        """
        return torch.stack([w * evidence[name] for name, w in self.weights.items()]).sum(0)

    def save(self, folder: Path) -> None:
        """Write `universal.json` and `model.safetensors` to the folder."""
        weight = torch.tensor([*self.weights.values()], dtype=torch.float64)
        write_bytes(folder / WEIGHTS, save({"weight": weight}))
        write_json(folder / OF_EVIDENCE, {"format": FORMAT, "evidence": [*self.weights]})


@cache
def universal_mentor() -> UniversalMentor:
    """Return the universal mentor that ships, on the CPU."""
    names = read_json(UNIVERSAL / OF_EVIDENCE)["evidence"]
    weight = load_file(UNIVERSAL / WEIGHTS)["weight"]
    return UniversalMentor(dict(zip(names, weight.tolist(), strict=True)))
