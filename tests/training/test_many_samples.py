"""What is kept of a sample is small, and a step does not look at samples that are not in it."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.many_samples import bytes_a_sample
from mentornet.data import Samples, Splits
from mentornet.randomness import generator, seeded
from mentornet.training import Trainer, prepare
from tests.training.runs import small

N = 300_000
BY_INDEX = {"aten.index.Tensor", "aten.index_put_.default", "aten.detach.default"}
"""Operations on long tensors that touch as many places as they are told."""


def trainer(method: str, *settings: str, verified: int | None = None) -> Trainer:
    """Every sample has a picture: overlapping pieces of one block."""
    draw = generator(0)
    block = torch.randint(256, (N + 64,), dtype=torch.uint8, generator=draw)
    pixels = block.as_strided((N, 1, 8, 8), (1, 64, 8, 1))
    images = Samples(pixels, torch.randint(4, (N,), generator=draw), tuple("abcd"))
    config = small(method, limit=None, batch_size=8, set=settings, clean_count=verified, steps=100,
                   epochs=None)  # fmt: skip
    return Trainer(prepare(config, splits=Splits(images, images.rows(slice(0, 8)))))


class Long(TorchDispatchMode):
    """Notes every operation on or to something as long as the dataset."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        results = result if isinstance(result, list | tuple) else [result]
        if any(isinstance(part, Tensor) and part.numel() >= N for part in (*args, *results)):
            self.found.add(f"{func}")
        return result


CASES = [
    ("full-model", (), None),
    ("mentornet-pd", (), None),
    ("mentornet-auto", (), None),
    ("spade", (), None),
    ("mentornet", ("mentor=prediction-variance",), None),
    ("mentornet-dd", (), 60),
]
"""Plain, SPADE, auto, explicit G, T = 10, and learned from verified samples."""


@pytest.mark.parametrize(("method", "settings", "verified"), CASES)
def test_a_step_touches_its_own_samples_only(
    method: str, settings: tuple[str, ...], verified: int | None
) -> None:
    made = trainer(method, *settings, verified=verified)
    made.student.train()
    source = made.batches.epoch(0)
    first = next(source)  # here the order of the epoch is drawn
    with seeded(0), Long() as long:
        made.step(first, 0)
        made.step(next(source), 0)
    assert long.found
    assert long.found <= BY_INDEX, long.found - BY_INDEX


@pytest.mark.parametrize("case", [CASES[1], CASES[3], CASES[5]], ids=lambda case: f"{case[0]}")
def test_a_sample_takes_at_most_64_bytes(case: tuple[str, tuple[str, ...], int | None]) -> None:
    """With its labels and its place in the epoch, at T = 1."""
    gc.collect()
    before = bytes_a_sample(N)
    method, settings, verified = case
    made = trainer(method, *settings, verified=verified)
    batch = next(made.batches.epoch(0))
    with seeded(0):
        made.step(batch, 0)
    assert 25 < bytes_a_sample(N) - before <= 64
