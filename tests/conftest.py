from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)  # tests run side by side


@pytest.fixture(scope="session", autouse=True)
def _processes_of_tests_are_light() -> Iterator[None]:
    """The processes that tests start have one thread each, and import no more than they need."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OMP_NUM_THREADS", "1")
        stand_ins = f"{Path(__file__).parent / 'stand_ins'}"
        environment.setenv("PYTHONPATH", stand_ins, prepend=os.pathsep)
        yield


@pytest.fixture(autouse=True)
def _global_random_state_is_left_alone() -> Iterator[None]:
    """Nothing we do moves torch's global random state: checked around every test."""
    before = torch.random.get_rng_state()
    yield
    assert torch.equal(torch.random.get_rng_state(), before)
