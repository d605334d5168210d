"""The samples that runs of the corpus draw from, with their true labels, and noise for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.real_noise.encoders import of_images
from benchmarks.real_noise.sets import FILES, read_task
from mentornet.data import corrupt_samples, load_data, parse_noise
from mentornet.data.noise.transitions import instance, pairflip, symmetric, uniform
from mentornet.randomness import generator

__all__ = ["POOLS", "Pool", "draw_labels"]

_FEATURES = 8_000  # images whose features are computed


@dataclass(frozen=True, eq=False)
class Pool:
    """Samples of one dataset.

    Attributes:
        x: uint8 images `(N, C, H, W)`, or vectors `(N, D)`.
        true: the true labels, `(N,)`.
        given: labels that people or rules gave, `(N,)`, or None.
    """

    x: Tensor
    true: Tensor
    given: Tensor | None = None

    @property
    def is_image(self) -> bool:
        return self.x.ndim == 4


def _cifar10() -> Pool:
    """Images that neither development nor the benchmark's trials look at."""
    whole = load_data("cifar10").train
    given = corrupt_samples(whole, parse_noise("human:random_label1"), seed=0).given_label
    rows = torch.cat([torch.arange(30_000, 40_000), torch.arange(45_000, 50_000)])
    return Pool(whole.tensor[rows], whole.given_label[rows], given[rows])


def _plain(name: str) -> Callable[[], Pool]:
    def read() -> Pool:
        whole = load_data(name).train
        return Pool(whole.tensor, whole.given_label)

    return read


def _features() -> Pool:
    whole = load_data("cifar100").train
    x, _ = of_images(whole.tensor[:_FEATURES])
    return Pool(_scaled(x), whole.given_label[:_FEATURES])


def _pixels() -> Pool:
    whole = load_data("fashion-mnist").train
    return Pool(_scaled(whole.tensor.flatten(1).float()), whole.given_label)


def _rows(name: str) -> Callable[[], Pool]:
    def read() -> Pool:
        task = read_task(name, Path(os.environ.get("MENTORNET_DATA", "data")) / "real-noise")
        return Pool(_scaled(task.x), task.true, task.given)

    return read


def _table(name: str) -> Callable[[], Pool]:
    def read() -> Pool:
        from sklearn import datasets

        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return Pool(_scaled(torch.from_numpy(x).float()), torch.from_numpy(y).long())

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
POOLS = tuple(_READERS)
"""The names of the datasets."""


@cache
def pool(name: str) -> Pool:
    """Return the samples of a dataset."""
    return _READERS[name]()


def draw_labels(kind: str, rate: float, x: Tensor, true: Tensor, classes: int, seed: int) -> Tensor:
    """Return given labels, `(N,)`.

    Args:
        kind: uniform, symmetric, pairflip, paired (each of half of the classes has one wrong
            class), instance, or weak (hard samples are taken for the class that a weak classifier
            takes them for).
        rate: the share of wrong labels; of all classes for paired.
        x: the samples, `(N, …)`.
        true: the true labels, `(N,)`.
        classes: K.
        seed: of all draws.
    """
    draw = generator(seed, 7)
    if kind == "instance":
        return instance(true, x, classes, rate, seed=seed)
    if kind == "weak":
        return _weak(rate, x, true, classes, draw)
    if kind == "paired":
        matrix = torch.eye(classes, dtype=torch.float64)
        order = torch.randperm(classes, generator=draw)
        for here, there in zip(order, order.roll(1), strict=True):
            if int(here) % 2 == 0 or classes == 2:
                matrix[here, here], matrix[here, there] = 1 - rate, rate
    else:
        matrix = {"uniform": uniform, "symmetric": symmetric, "pairflip": pairflip}[kind](
            classes, rate
        )
    chances = matrix[true].cumsum(1)
    return (
        (chances <= torch.rand(len(true), 1, generator=draw, dtype=torch.float64))
        .sum(1)
        .clamp(max=classes - 1)
    )


def _weak(rate: float, x: Tensor, true: Tensor, classes: int, draw: torch.Generator) -> Tensor:
    small = torch.nn.functional.adaptive_avg_pool2d(x.float(), 6) if x.ndim == 4 else x.float()
    flat = _scaled(small.flatten(1))
    some = torch.randperm(len(flat), generator=draw)[: max(50, len(flat) // 5)]
    weight = torch.zeros(flat.shape[1], classes, requires_grad=True)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(flat[some] @ weight, true[some])
        (slope,) = torch.autograd.grad(loss + 1e-3 * weight.square().sum(), weight)
        weight = (weight - 0.1 * slope).detach().requires_grad_()
    p = (flat @ weight).detach().softmax(1).double()
    own = torch.nn.functional.one_hot(true, classes).bool()
    doubt = 1 - p[own]
    flips = (rate * doubt / doubt.mean()).clamp(max=0.95)
    wrong = torch.multinomial(p.masked_fill(own, 0) + 1e-6 * ~own, 1, generator=draw)[:, 0]
    flipped = torch.rand(len(true), generator=draw, dtype=torch.float64) < flips
    return torch.where(flipped, wrong, true)
