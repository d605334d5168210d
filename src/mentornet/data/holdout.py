"""Setting samples aside, class by class, in the same way every time."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.randomness import generator

__all__ = ["hold_out"]


def hold_out(label: Tensor, share: float = 0.1) -> tuple[Tensor, Tensor]:
    """Which samples stay and which are held out, two sorted index tensors.

    Of each class of n ≥ 2 samples max(1, round(share × n)) are held out, of a class of one none.

    Args:
        label: `(N,)`, integer.
        share: of each class, below 1.

    >>> stay, held = hold_out(torch.tensor([0] * 20 + [1] * 3 + [2]))
    >>> torch.bincount(torch.tensor([0] * 20 + [1] * 3 + [2])[held]).tolist()
    [2, 1]
    """
    held = torch.zeros(len(label), dtype=torch.bool)
    for value in label.unique().tolist():
        members = (label == value).nonzero().flatten()
        count = max(1, round(share * len(members))) if len(members) > 1 else 0
        order = torch.randperm(len(members), generator=generator(0, value))
        held[members[order[:count]]] = True
    return (~held).nonzero().flatten(), held.nonzero().flatten()
