"""Verdicts without a person: drawn at random where the true labels are known."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.randomness import generator
from mentornet.verdicts.verdicts import Verdicts

__all__ = ["draw_verdicts"]


def draw_verdicts(
    given_label: Tensor, true_label: Tensor | None, count: int, *, seed: int
) -> Verdicts:
    """Verdicts on `count` samples drawn at random, sorted by their numbers.

    Args:
        given_label: `(N,)`.
        true_label: `(N,)`; an error where it is not known.
        count: how many to draw, at most N.
        seed: fixes what is drawn.

    >>> label = torch.tensor([0, 1, 1, 0])
    >>> draw_verdicts(label, torch.tensor([0, 1, 0, 0]), 4, seed=0).is_correct
    tensor([ True,  True, False,  True])
    """
    if true_label is None:
        raise MentorNetError(
            "clean_count needs true labels, which this data does not have; check some labels "
            "and list them in a file of verdicts"
        )
    if count > len(given_label):
        raise MentorNetError(f"clean_count is {count}, but there are {len(given_label)} samples")
    order = torch.randperm(len(given_label), generator=generator(seed))
    index = order[:count].sort().values
    right = true_label[index]
    return Verdicts(index, given_label[index] == right, right)
