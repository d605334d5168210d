"""Batches that must be of one size on all processes, and whether they are."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mentornet.distributed.processes import Processes
from mentornet.errors import MentorNetError

__all__ = ["EvenBatches"]

_LOOK_EVERY = 64  # steps between two looks, where looking waits for the device


class EvenBatches:
    """Gathers what processes of equally large batches have to tell, in an exchange of fixed size.

    An exchange in which the processes bring tensors of different sizes hangs or yields nonsense.
    So the sizes are compared once, before the first; after that every exchange has room for a
    batch of that size, and a batch's size goes along as one more number. Where looking at numbers
    costs nothing, uneven batches raise at once on every process; on an accelerator nobody waits for
    it, and they raise at most 64 steps later.

    There a batch larger than all before it is taken to be so on all processes.
    """

    def __init__(self) -> None:
        self.room = self._calls = 0
        self._sizes: Tensor | None = None  # those of the first uneven exchange

    def gather(
        self, processes: Processes, columns: Sequence[Tensor], *, look: bool
    ) -> list[Tensor]:
        """Each column `(B,)` of all processes one after the other.

        Args:
            processes: that take part.
            columns: what this rank has to tell, all of one length and on one device.
            look: whether looking at numbers costs nothing.
        """
        mine, device = len(columns[0]), columns[0].device
        if self.room == 0:
            _check(processes.gather([torch.tensor([mine], device=device)])[0])
            self.room = mine
        if not look:
            self.room = max(self.room, mine)
        sent = [_fitted(column, self.room) for column in columns]
        size = torch.zeros(self.room, dtype=torch.float64, device=device)
        size[0] = mine
        *told, sizes = processes.gather([*sent, size])
        self._note(sizes[:: self.room], look)
        if mine > self.room:  # on all processes, as nothing was raised
            self.room = mine
            return processes.gather(columns)
        return [column.view(processes.world, self.room)[:, :mine].flatten() for column in told]

    def _note(self, sizes: Tensor, look: bool) -> None:
        if self._sizes is None or look:
            self._sizes = sizes
        else:
            before = (self._sizes != self._sizes[0]).any()
            self._sizes = torch.where(before, self._sizes, sizes)
        self._calls += 1
        if look or self._calls % _LOOK_EVERY == 0:
            _check(self._sizes)


def _fitted(column: Tensor, room: int) -> Tensor:
    """The column cut or filled up to that length."""
    if len(column) == room:
        return column
    return torch.cat([column[:room], column.new_zeros(max(0, room - len(column)))])


def _check(sizes: Tensor) -> None:
    if (sizes != sizes[0]).any():
        raise MentorNetError(
            f"the processes have batches of {sizes.long().tolist()} samples, and they must be of "
            "one size: use a DistributedSampler, which pads, and drop_last where batches are cut"
        )
