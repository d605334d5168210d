"""Uneven batches are found out, on an accelerator too, where nobody waits for the numbers."""

from __future__ import annotations

from tests.weighting.test_shared_steps import torchrun


def test_uneven_batches_are_found_out() -> None:
    done = torchrun("-m", "tests.distributed.even")
    assert done.returncode == 0, done.stderr[-3000:]
