"""A second look at samples whose label is rejected: the student learns what it believes of them.

Their label is not learned, but their image still can be. What the student believes is read off one
view, and learned on a second one that is harder to recognise, so that it cannot simply confirm
itself (FixMatch, Sohn et al. 2020). Batch norms normalise these views by their own mean and
variance, and do not remember them: later predictions are of whole images.
Shapes: N samples, B of them in a batch of all processes, K classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from mentornet.data import Batch
from mentornet.data.augmentation import COVER_DRAWS, covered
from mentornet.methods.supervision import Seen
from mentornet.randomness import hashed_uniform

__all__ = ["SecondLook", "rows_share"]

_STREAM = 43  # of randomness
_ROOM = 1.25, 0.05  # rows that are looked at, of the expected number and of a batch
_PARTS = 8  # parts of a batch with as many such rows each …
_FEWEST = 2  # … but no fewer, because one row has no variance for batch norm


def rows_share(share: float) -> float:
    """Return the share of a batch that is looked at, if about that `share` has a weight.

    >>> [rows_share(share) for share in (0.2, 0.8)]
    [0.3, 1.0]
    """
    return min(1.0, _ROOM[0] * share + _ROOM[1])


class SecondLook:
    """Learns classes that the student itself believes in, on covered views.

    Args:
        seed: seed of the views.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed + _STREAM

    def losses(
        self, seen: Seen, believed: Tensor, weight: Tensor, *, share: float, step: int
    ) -> Tensor:
        """Return w −log p(k) for each of our samples, `(B,)`, with gradient; mostly 0.

        Which rows of the whole batch are looked at does not depend on the number of processes, and
        so the sum over the processes does not.

        Args:
            seen: the batch; its inputs are images.
            believed: k of every sample, `(N,)`.
            weight: w ≥ 0 of every sample, `(N,)`.
            share: about how many of the weights are above 0, as a share of N.
            step: the number of the step.
        """
        batch = seen.batch
        rows, weight = self._rows(batch, weight, share, step)
        index = batch.index[rows]
        ids = index[:, None] * COVER_DRAWS + torch.arange(COVER_DRAWS, device=index.device)
        draws = hashed_uniform(self.seed, torch.full_like(ids, step), ids)
        with _norms_remember_nothing(seen.look):
            logits = seen.look(covered(batch.inputs[rows], draws))
        target = believed[index].long()
        each = nn.functional.cross_entropy(logits.float(), target, reduction="none")
        total = torch.zeros(len(batch.index), dtype=each.dtype, device=each.device)
        return total.index_add(0, rows, weight.to(each) * each)

    def _rows(self, batch: Batch, weight: Tensor, share: float, step: int) -> tuple[Tensor, Tensor]:
        """Return which of our rows are looked at, at least one, and their weights.

        Each eighth of the whole batch has as many, so that up to eight processes all have some.
        Rows with a weight come first, in an order that is drawn. (If the largest weights came
        first, rounding could choose others in two processes than in one.)
        """
        whole = batch.whole.index
        count, turn = len(whole), torch.full_like(whole, step)
        first = (weight[whole] > 0) + hashed_uniform(self.seed, turn, -1 - whole)
        eighth = torch.arange(count, device=whole.device) * _PARTS // count
        order = (2 * eighth - first).argsort()  # `first` is in [0, 2)
        most = max(_FEWEST, math.ceil(rows_share(share) * count / _PARTS))
        bounds = [-(-part * count // _PARTS) for part in range(_PARTS + 1)]
        top = torch.cat([
            order[start : min(start + most, end)]
            for start, end in pairwise(bounds)
        ])  # fmt: skip
        if batch.shared is None:
            return top, weight[whole[top]]
        rows = torch.isin(batch.index, whole[top]).nonzero()[:, 0]
        if not len(rows):  # all processes must take as many forward passes
            rows = torch.arange(min(_FEWEST, len(batch.index)), device=top.device)
            return rows, torch.zeros_like(weight[batch.index[rows]])
        return rows, weight[batch.index[rows]]


@contextmanager
def _norms_remember_nothing(student: object) -> Iterator[None]:
    """Keep the running mean and variance of the student's batch norms as they are inside."""
    every = student.modules() if isinstance(student, nn.Module) else ()
    before = [(part, part.momentum) for part in every if isinstance(part, _BatchNorm)]
    for norm, _ in before:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in before:
            norm.momentum = momentum
