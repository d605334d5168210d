"""Exchange values between processes whose batches must be of equal size."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mentornet.distributed.processes import Processes
from mentornet.errors import MentorNetError

__all__ = ["EvenBatches"]

_LOOK_EVERY = 64  # steps between two checks, where reading values would synchronise


class EvenBatches:
    """Gathers values of batches that are equally large in all processes.

    An exchange of tensors of different sizes hangs or returns wrong values. So the processes
    compare their batch sizes once, before the first exchange. All later exchanges have that size,
    and each sends the size of its batch along. On the CPU, unequal batches raise an error at once
    in every process. On an accelerator, where checking every step would cost time, they raise an
    error at most 64 steps later; until then, a batch that is larger than all before it is assumed
    to be so in all processes.
    """

    def __init__(self) -> None:
        self.room = self._calls = 0
        self._sizes: Tensor | None = None  # the sizes in the first uneven exchange

    def gather(
        self, processes: Processes, columns: Sequence[Tensor], *, look: bool
    ) -> list[Tensor]:
        """Return each column `(B,)` of all processes, one after the other.

        Args:
            processes: the processes that take part.
            columns: the values of this process, all of one length and on one device.
            look: whether values can be read without synchronising with a device.
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
        *gathered, sizes = processes.gather([*sent, size])
        self._note(sizes[:: self.room], look)
        if mine > self.room:  # in all processes, as nothing was raised
            self.room = mine
            return processes.gather(columns)
        return [column.view(processes.world, self.room)[:, :mine].flatten() for column in gathered]

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
    """Return the column, cut or padded with zeros to that length."""
    if len(column) == room:
        return column
    return torch.cat([column[:room], column.new_zeros(max(0, room - len(column)))])


def _check(sizes: Tensor) -> None:
    if (sizes != sizes[0]).any():
        raise MentorNetError(
            f"the processes have batches of {sizes.long().tolist()} samples, but they must be of "
            "equal size: use a DistributedSampler, which pads, or drop_last=True in the loader"
        )
