"""The samples that runs of the corpus draw from, and the noise of their labels."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.real_noise.encoders import of_images
from benchmarks.real_noise.sets import FILES, read_task
from mentornet.data import corrupt_samples, load_data, parse_noise
from mentornet.data.noise.transitions import instance, pairflip, symmetric, uniform
from mentornet.randomness import generator

__all__ = ["Pool", "draw_labels", "pool"]

_FEATURES = 8_000  # images whose features are computed
_TAUGHT, _STEPS, _RATE, _DECAY = 0.2, 60, 0.1, 1e-3  # of the weak classifier


@dataclass(frozen=True, eq=False)
class Pool:
    """Samples of one dataset.

    Attributes:
        x: uint8 images `(N, C, H, W)`, or vectors `(N, D)`.
        true: the true labels, `(N,)`.
        given: labels that people or rules gave, `(N,)`; the true ones if there are none.
    """

    x: Tensor
    true: Tensor
    given: Tensor


def _cifar10() -> Pool:
    """Images that neither development nor the benchmark's trials look at."""
    whole = load_data("cifar10").train
    given = corrupt_samples(whole, parse_noise("human:random_label1"), seed=0).given_label
    rows = torch.cat([torch.arange(30_000, 40_000), torch.arange(45_000, 50_000)])
    return Pool(whole.tensor[rows], whole.given_label[rows], given[rows])


def _plain(name: str) -> Callable[[], Pool]:
    def read() -> Pool:
        whole = load_data(name).train
        return Pool(whole.tensor, whole.given_label, whole.given_label)

    return read


def _features() -> Pool:
    whole = load_data("cifar100").train
    x, _ = of_images(whole.tensor[:_FEATURES])
    label = whole.given_label[:_FEATURES]
    return Pool(_scaled(x), label, label)


def _pixels() -> Pool:
    whole = load_data("fashion-mnist").train
    x = _scaled(whole.tensor.flatten(1).float())
    return Pool(x, whole.given_label, whole.given_label)


def _rows(name: str) -> Callable[[], Pool]:
    def read() -> Pool:
        task = read_task(name, Path(os.environ.get("MENTORNET_DATA", "data")) / "real-noise")
        return Pool(_scaled(task.x), task.true, task.given)

    return read


def _table(name: str) -> Callable[[], Pool]:
    def read() -> Pool:
        from sklearn import datasets

        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        label = torch.from_numpy(y).long()
        return Pool(_scaled(torch.from_numpy(x).float()), label, label)

    return read


def _scaled(x: Tensor) -> Tensor:
    spread = x.std(0, correction=0)
    return (x - x.mean(0)) / spread.where(spread > 0, 1.0)


_READERS: dict[str, Callable[[], Pool]] = {
    "cifar10": _cifar10,
    "cifar100": _plain("cifar100"),
    "fashion-mnist": _plain("fashion-mnist"),
    "digits": _plain("digits"),
    "cifar100-features": _features,
    "fashion-pixels": _pixels,
    **{name: _rows(name) for name in FILES},
    **{name: _table(name) for name in ("wine", "breast_cancer")},
}


@cache
def pool(name: str) -> Pool:
    """Return the samples of a dataset."""
    return _READERS[name]()


def draw_labels(kind: str, rate: float, x: Tensor, true: Tensor, classes: int, seed: int) -> Tensor:
    """Return given labels, `(N,)`.

    Args:
        kind: uniform, symmetric, pairflip, paired (members of half of the classes are taken for one
            other class each), instance, or weak (see `_weak`).
        rate: the share of wrong labels, for paired in those classes.
        x: the samples, `(N, …)`.
        true: the true labels, `(N,)`.
        classes: K.
        seed: of all draws.
    """
    draws = generator(seed, 7)
    if kind == "instance":
        return instance(true, x, classes, rate, seed=seed)
    if kind == "weak":
        return _weak(rate, x, true, classes, draws)
    matrices = {"uniform": uniform, "symmetric": symmetric, "pairflip": pairflip}
    matrix = _paired(classes, rate, draws) if kind == "paired" else matrices[kind](classes, rate)
    drawn = torch.rand(len(true), 1, generator=draws, dtype=torch.float64)
    return (matrix[true].cumsum(1) <= drawn).sum(1).clamp(max=classes - 1)


def _paired(classes: int, rate: float, draws: torch.Generator) -> Tensor:
    matrix = torch.eye(classes, dtype=torch.float64)
    order = torch.randperm(classes, generator=draws)
    for here, there in zip(order, order.roll(1), strict=True):
        if int(here) % 2 == 0 or classes == 2:
            matrix[here, here], matrix[here, there] = 1 - rate, rate
    return matrix


def _weak(rate: float, x: Tensor, true: Tensor, classes: int, draws: torch.Generator) -> Tensor:
    """Return labels of which those are wrong that a weak linear classifier finds hard."""
    small = nn.functional.adaptive_avg_pool2d(x.float(), 6) if x.ndim == 4 else x.float()
    flat = _scaled(small.flatten(1))
    some = torch.randperm(len(flat), generator=draws)[: max(50, int(_TAUGHT * len(flat)))]
    weight = torch.zeros(flat.shape[1], classes, requires_grad=True)
    for _ in range(_STEPS):
        loss = nn.functional.cross_entropy(flat[some] @ weight, true[some])
        (slope,) = torch.autograd.grad(loss + _DECAY * weight.square().sum(), weight)
        weight = (weight - _RATE * slope).detach().requires_grad_()
    p = (flat @ weight).detach().softmax(1).double()
    own = nn.functional.one_hot(true, classes).bool()
    doubt = 1 - p[own]
    flips = (rate * doubt / doubt.mean()).clamp(max=0.95)
    others = p.masked_fill(own, 0) + 1e-6 * ~own
    wrong = torch.multinomial(others, 1, generator=draws)[:, 0]
    flipped = torch.rand(len(true), generator=draws, dtype=torch.float64) < flips
    return torch.where(flipped, wrong, true)
