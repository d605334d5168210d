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

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from mentornet.data import Batch
from mentornet.data.augmentation import COVER_DRAWS, covered
from mentornet.methods.supervision import Seen
from mentornet.randomness import hashed_uniform

__all__ = ["SecondLook"]

_STREAM = 43  # of randomness
_ROOM = 1.25, 0.05  # rows that are looked at, of the expected number and of a batch
_PARTS = 8  # the rows are so many eighths of a batch, so that few shapes are compiled


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

        Every process looks at those of its rows that are among the largest w of the whole batch, so
        the sum over the processes does not depend on their number.

        Args:
            seen: the batch; its inputs are images.
            believed: k of every sample, `(N,)`.
            weight: w ≥ 0 of every sample, `(N,)`.
            share: about how many of the weights are above 0, as a share of N.
            step: the number of the step.
        """
        batch = seen.batch
        rows = _rows(batch, weight, share)
        index = batch.index[rows]
        ids = index[:, None] * COVER_DRAWS + torch.arange(COVER_DRAWS, device=index.device)
        draws = hashed_uniform(self.seed, torch.full_like(ids, step), ids)
        with _norms_remember_nothing(seen.look):
            logits = seen.look(covered(batch.inputs[rows], draws))
        each = nn.functional.cross_entropy(logits.float(), believed[index], reduction="none")
        total = torch.zeros(len(batch.index), dtype=each.dtype, device=each.device)
        return total.index_add(0, rows, weight[index].to(each) * each)


def _rows(batch: Batch, weight: Tensor, share: float) -> Tensor:
    """Return which of our rows are among the largest weights of the whole batch; at least one."""
    whole = batch.whole.index
    parts = math.ceil(_PARTS * (_ROOM[0] * share + _ROOM[1]))
    most = max(1, min(_PARTS, parts) * len(whole) // _PARTS)
    top = weight[whole].topk(most).indices
    if batch.shared is None:
        return top
    rows = torch.isin(batch.index, whole[top]).nonzero()[:, 0]
    return rows if len(rows) else torch.zeros_like(top[:1])


@contextmanager
def _norms_remember_nothing(student: object) -> Iterator[None]:
    """Keep the running statistics of the student's batch norms as they are inside."""
    every = student.modules() if isinstance(student, nn.Module) else ()
    before = [(part, part.momentum) for part in every if isinstance(part, _BatchNorm)]
    for norm, _ in before:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in before:
            norm.momentum = momentum
