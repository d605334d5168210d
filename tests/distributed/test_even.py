"""Uneven batches are found out, on an accelerator too, where nobody waits for the numbers."""

from __future__ import annotations

from pathlib import Path

from tests.distributed import even
from tests.processes import run_ranks


def test_uneven_batches_are_found_out(tmp_path: Path) -> None:
    for code, told in run_ranks(tmp_path, even.main):
        assert code == 0, told[-3000:]
