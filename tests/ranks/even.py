"""Exchanges of batches that should be of one size: `torchrun … -m tests.ranks.even`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
import torch

from mentornet.errors import MentorNetError
from mentornet.ranks import EvenBatches, Ranks


def exchange(even: EvenBatches, ranks: Ranks, sizes: Sequence[int], *, look: bool) -> None:
    """One exchange in which each rank has that many samples; numbers tell who they are from."""
    mine = sizes[ranks.rank]
    own = 100 * ranks.rank + torch.arange(mine)
    floats, whole = even.gather(ranks, [own / 8, own], look=look)
    if len(set(sizes)) == 1:
        expected = torch.cat([100 * rank + torch.arange(mine) for rank in range(ranks.world)])
        assert torch.equal(whole, expected)
        assert torch.equal(floats, expected / 8)


def refused(sizes: Sequence[int]) -> pytest.RaisesExc[MentorNetError]:
    return pytest.raises(MentorNetError, match=re.escape(f"batches of {list(sizes)} samples"))


def main() -> None:
    ranks = Ranks.join()
    looking, blind = EvenBatches(), EvenBatches()
    for sizes in ([4, 4], [3, 3], [6, 6], [5, 5]):  # smaller, then larger than ever, all alike
        exchange(looking, ranks, sizes, look=True)
        exchange(blind, ranks, sizes, look=False)
    for uneven in ([5, 6], [9, 6], [9, 8], [0, 6]):
        with refused(uneven):
            exchange(looking, ranks, uneven, look=True)
    with refused([4, 5]):  # the first exchange is checked
        exchange(EvenBatches(), ranks, [4, 5], look=False)
    exchange(blind, ranks, [5, 3], look=False)  # nobody waits, so nobody knows yet
    for _ in range(64 - 6):
        exchange(blind, ranks, [5, 5], look=False)
    with refused([5, 3]):
        exchange(blind, ranks, [5, 5], look=False)
    ranks.leave()


if __name__ == "__main__":
    main()
