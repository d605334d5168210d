from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

torch.set_num_threads(1)  # tests run side by side
os.environ.setdefault("OMP_NUM_THREADS", "1")  # and so do the processes that they start


@pytest.fixture(autouse=True)
def _global_random_state_is_left_alone() -> Iterator[None]:
    """Nothing we do moves torch's global random state: checked around every test."""
    before = torch.random.get_rng_state()
    yield
    assert torch.equal(torch.random.get_rng_state(), before)
