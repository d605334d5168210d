"""What a mentor learns from the corpus, and how well it carries over to data it has not seen.

The probability that a label is correct is σ(s + m). The universal mentor gives s, by the same
weights for all data; m is free in every run and at every moment, because how many labels are wrong
is no property of a sample. Shapes: N samples, J kinds of evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.universal.runs import Spec
from mentornet.mentors.universal import UniversalMentor
from mentornet.metrics import auroc
from mentornet.randomness import generator
from mentornet.weighting.anchors import anchored_posterior
from mentornet.weighting.calibration import calibrated, evidence_for

__all__ = ["CANDIDATES", "READS", "Moment", "family", "judged", "learn", "read"]

READS = ("posterior",)
"""What the mentor that ships reads; see `CANDIDATES`."""

CANDIDATES = (
    READS, ("margin",), ("posterior", "margin"), ("posterior", "margin", "mean_loss"),
)  # fmt: skip
"""What mentors were learned from, to see what earns its place."""

_SAMPLES = 200  # drawn at each moment, to learn from
_STEPS = 200  # of L-BFGS, at most
_BINS = 10  # of the calibration error
_JUDGED = (0.3, 0.6, 1.0)  # shares of training at which a mentor is judged
_RATED = (0.2, 0.4)  # between them, ε is estimated as mentornet-early does


@dataclass(frozen=True, eq=False)
class Moment:
    """What was known of the samples of one run at one time.

    Attributes:
        spec: the run.
        progress: share of training.
        evidence: by name, `(N,)` each; those of `EVIDENCE`, and what mentors are compared with.
        correct: whether each given label is correct, `(N,)`.
        rate: the share of wrong labels that Bayes' rule finds.
    """

    spec: Spec
    progress: float
    evidence: dict[str, Tensor]
    correct: Tensor
    rate: float


def family(data: str) -> str:
    """Return what is left out together: the same images as pixels and as features are one dataset.

    >>> family("cifar100-features"), family("fashion-pixels"), family("cifar10")
    ('cifar100', 'fashion', 'cifar10')
    """
    return data if data.startswith("cifar10") and "100" not in data else data.split("-")[0]


def read(spec: Spec, path: Path) -> list[Moment]:
    """Return the moments of a run from a tenth of training on."""
    with np.load(path) as file:
        stored = {name: torch.from_numpy(file[name].astype(np.float64)) for name in file.files}
    given, classes = stored["given"].long(), stored["seen"].shape[2]
    correct, moments = given == stored["true"].long(), []
    for at, progress in enumerate(stored["progress"].tolist()):
        if progress < 0.09:
            continue
        p = stored["seen"][at] / stored["seen"][at].sum(1, keepdim=True)
        found = anchored_posterior(p, given)
        scale = np.log(classes)
        evidence = evidence_for(found, p) | {
            "mean_loss": -stored["mean_loss"][at] / scale,
            "smoothed_loss": -stored["recent_loss"][at] / scale,
            "agreement": -stored["differs"][at],
        }
        moments.append(Moment(spec, progress, evidence, correct, float(found.noise_rate)))
    return moments


def learn(moments: Sequence[Moment], reads: Sequence[str] = READS) -> UniversalMentor:
    """Return the mentor under which the corpus is most likely, with an m for each moment."""
    draws, rows, target, which = generator(0), [], [], []
    for number, one in enumerate(moments):
        some = torch.randint(len(one.correct), (_SAMPLES,), generator=draws)
        rows.append(torch.stack([one.evidence[name][some] for name in reads], 1))
        target.append(one.correct[some].double())
        which.append(torch.full((_SAMPLES,), number))
    x, y, at = torch.cat(rows), torch.cat(target), torch.cat(which)
    weight = torch.zeros(len(reads), dtype=torch.float64, requires_grad=True)
    shift = torch.zeros(len(moments), dtype=torch.float64, requires_grad=True)
    solver = torch.optim.LBFGS([weight, shift], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def objective() -> Tensor:
        solver.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(x @ weight + shift[at], y)
        loss = loss + 1e-4 * shift.square().mean()
        loss.backward()
        return loss

    solver.step(objective)
    return UniversalMentor(dict(zip(reads, weight.tolist(), strict=True)))


def judged(moments: Sequence[Moment], mentor: UniversalMentor) -> dict[str, float]:
    """Return how well a mentor tells wrong labels in one run, and how well it is calibrated."""
    found: dict[str, list[float]] = {}
    rated = [one.rate for one in moments if _RATED[0] < one.progress <= _RATED[1]]
    wrong = 1 - moments[0].correct.double().mean().item()
    estimate = sum(rated) / len(rated) if rated else moments[0].rate
    for share in _JUDGED:
        one = min(moments, key=lambda moment: abs(moment.progress - share))
        s = mentor(one.evidence)
        scores = {"universal": s} | {
            name: one.evidence[name]
            for name in ("posterior", "margin", "mean_loss", "smoothed_loss", "agreement")
        }
        values = {name: auroc(score.float(), one.correct) for name, score in scores.items()}
        values["error_true_rate"] = _calibration_error(s, wrong, one.correct)
        values["error_estimated_rate"] = _calibration_error(s, estimate, one.correct)
        for name, value in values.items():
            found.setdefault(name, []).append(float(value))
    return {name: sum(values) / len(values) for name, values in found.items()} | {
        "wrong": wrong, "estimate": estimate,
    }  # fmt: skip


def _calibration_error(s: Tensor, rate: float, correct: Tensor) -> float:
    """Return the expected calibration error of σ(s + m), whose mean is 1 − `rate`."""
    v = calibrated(s, torch.tensor(min(max(rate, 0.002), 0.95)))
    error = 0.0
    for place in range(_BINS):
        inside = (v * _BINS).long().clamp(max=_BINS - 1) == place
        if inside.any():
            apart = (v[inside].mean() - correct[inside].double().mean()).abs()
            error += float(inside.double().mean() * apart)
    return error
