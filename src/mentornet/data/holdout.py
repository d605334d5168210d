"""Holding out samples, class by class, in the same way every time."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.randomness import generator

__all__ = ["hold_out"]


def hold_out(label: Tensor, share: float = 0.1) -> tuple[Tensor, Tensor]:
    """The indices of the samples that stay and of those held out, as two sorted tensors.

    Of each class with n ≥ 2 samples, max(1, round(share × n)) are held out; of a class with one
    sample, none.

    Args:
        label: `(N,)`, integer.
        share: the share of each class to hold out, below 1.

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
