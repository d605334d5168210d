"""Exchanges of batches that should be of one size, by two processes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
import torch

from mentornet.distributed import EvenBatches, Processes
from mentornet.errors import MentorNetError


def exchange(even: EvenBatches, processes: Processes, sizes: Sequence[int], *, look: bool) -> None:
    """One exchange in which each rank has that many samples; numbers tell who they are from."""
    mine = sizes[processes.rank]
    own = 100 * processes.rank + torch.arange(mine)
    floats, whole = even.gather(processes, [own / 8, own], look=look)
    if len(set(sizes)) == 1:
        expected = torch.cat([100 * rank + torch.arange(mine) for rank in range(processes.world)])
        assert torch.equal(whole, expected)
        assert torch.equal(floats, expected / 8)


def refused(sizes: Sequence[int]) -> pytest.RaisesExc[MentorNetError]:
    return pytest.raises(MentorNetError, match=re.escape(f"batches of {list(sizes)} samples"))


def main() -> None:
    processes = Processes.join()
    looking, blind = EvenBatches(), EvenBatches()
    for sizes in ([4, 4], [3, 3], [6, 6], [5, 5]):  # smaller, then larger than ever, all alike
        exchange(looking, processes, sizes, look=True)
        exchange(blind, processes, sizes, look=False)
    for uneven in ([5, 6], [9, 6], [9, 8], [0, 6]):
        with refused(uneven):
            exchange(looking, processes, uneven, look=True)
    with refused([4, 5]):  # the first exchange is checked
        exchange(EvenBatches(), processes, [4, 5], look=False)
    exchange(blind, processes, [5, 3], look=False)  # nobody waits, so nobody knows yet
    for _ in range(64 - 6):
        exchange(blind, processes, [5, 5], look=False)
    with refused([5, 3]):
        exchange(blind, processes, [5, 5], look=False)
    processes.wait()
