"""One of several processes, and its exchanges with the others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist

from mentornet.distributed.meeting import agent_store, meet, world_size
from mentornet.distributed.watch import watching
from mentornet.errors import MentorNetError

__all__ = ["Processes"]

_AT_MOST = timedelta(hours=2)  # to wait for processes that still give signs of life; see `watch`
_start: list[str] = []  # the name of this start, once the processes have met
_watched: list[bool] = []  # not empty while a `Watch` is running


@dataclass(frozen=True)
class Processes:
    """The number of processes, and which of them this is; by default it is the only one.

    Args:
        rank: the number of this process, from 0.
        world: how many processes there are.
    """

    rank: int = 0
    world: int = 1

    @classmethod
    def join(cls) -> Processes:
        """Connect to the other processes that `torchrun` has started, if it has."""
        if world_size() == 1:
            return cls()
        if not dist.is_initialized():
            backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
            rank, world, store = int(os.environ["RANK"]), world_size(), agent_store()
            _start[:] = [meet(store, rank, world)]
            dist.init_process_group(
                backend, store=_place(store, "group"), rank=rank, world_size=world,
                timeout=_AT_MOST,
            )  # fmt: skip
        return cls.here()

    @classmethod
    def here(cls) -> Processes:
        """Return the processes of torch's process group, or a single one if there is none."""
        if dist.is_available() and dist.is_initialized():
            return cls(dist.get_rank(), dist.get_world_size())
        return cls()

    def watched(self) -> AbstractContextManager[None]:
        """Return a context in which a process ends soon after another one is lost; see `watch`."""
        if self.alone or not _start or _watched:
            return nullcontext()
        return self._watch()

    @contextmanager
    def _watch(self) -> Iterator[None]:
        _watched.append(True)
        try:
            with watching(_place(agent_store(), "alive"), self.rank, self.world):
                yield
        finally:
            _watched.clear()

    @property
    def alone(self) -> bool:
        """Whether this is the only process."""
        return self.world == 1

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and prints."""
        return self.rank == 0

    def share(self, count: int) -> slice:
        """Return our part of a whole batch of `count` samples: parts of equal size (±1), in order.

        >>> [Processes(rank, 3).share(8) for rank in range(3)]
        [slice(0, 3, None), slice(3, 6, None), slice(6, 8, None)]
        """
        sizes = self._sizes(count)
        start = sum(sizes[: self.rank])
        return slice(start, start + sizes[self.rank])

    def _sizes(self, count: int) -> list[int]:
        small, more = divmod(count, self.world)
        return [small + (place < more) for place in range(self.world)]

    def place(self, mine: int, count: int | None = None) -> tuple[slice, int]:
        """Return the place of our samples in the whole batch, and the size of that batch.

        Args:
            mine: the number of samples of this process.
            count: the size of the whole batch, split by `share`; None if all processes have `mine`.
        """
        if count is None:
            return slice(self.rank * mine, (self.rank + 1) * mine), self.world * mine
        return self.share(count), count

    @torch.no_grad()
    def gather(self, columns: Sequence[Tensor], count: int | None = None) -> list[Tensor]:
        """Return each column `(B,)` of all processes, one after the other, by one exchange.

        Each value is sent as float64, so whole numbers are exact up to 2⁵³.

        Args:
            columns: the values of this process, all of one length and on one device.
            count: the size of the whole batch, split by `share`; None if all parts are of one size.
        """
        if self.alone:
            return [column.detach() for column in columns]
        mine = len(columns[0])
        sizes = [mine] * self.world if count is None else self._sizes(count)
        room = max(sizes)
        sent = torch.zeros(len(columns), room, dtype=torch.float64, device=columns[0].device)
        for place, column in enumerate(columns):
            sent[place, :mine] = column.detach().double()
        received = [torch.empty_like(sent) for _ in range(self.world)]
        dist.all_gather(received, sent)
        whole = torch.cat([part[:, :size] for part, size in zip(received, sizes, strict=True)], 1)
        return [row.to(column.dtype) for row, column in zip(whole, columns, strict=True)]

    @torch.no_grad()
    def total(self, numbers: Tensor) -> Tensor:
        """Replace the numbers by their sums over all processes, and return them."""
        if not self.alone:
            dist.all_reduce(numbers)
        return numbers

    @torch.no_grad()
    def follow(self, *tensors: Tensor) -> None:
        """Replace each tensor by that of rank 0, in place."""
        if not self.alone:
            for tensor in tensors:
                dist.broadcast(tensor, 0)

    def agree(self, decision: bool, device: torch.device | str = "cpu") -> bool:
        """Return the decision of rank 0."""
        if self.alone:
            return decision
        shared = torch.tensor([int(decision)], device=device)
        self.follow(shared)
        return bool(shared.item())

    def leave(self) -> None:
        """Wait for all processes and end this one without an error; a single process goes on.

        Without this, the threads of gloo sometimes abort a process when it ends, and `torchrun`
        reports a failure.
        """
        if self.alone:
            return
        self.wait()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def wait(self) -> None:
        """Wait until all processes have come here."""
        if not self.alone:
            dist.barrier()

    def check_same(self, digest: str, what: str, device: torch.device | str = "cpu") -> None:
        """Raise in every process if the digests differ.

        Args:
            digest: the hexadecimal digest of what must be equal.
            what: the name of that, for the error message.
            device: the device to exchange tensors on.
        """
        if self.alone:
            return
        mine = torch.tensor([int(digest[:12], 16)], dtype=torch.int64, device=device)
        (every,) = self.gather([mine])
        other = (every != every[0]).nonzero().flatten().tolist()
        if other:
            raise MentorNetError(
                f"rank {other[0]} has {what} that differ from rank 0's; every process must be "
                "started with the same command and see the same files"
            )


def _place(store: Any, what: str) -> Any:
    """Return a part of the store that no earlier start has written to."""
    return torch._C._distributed_c10d.PrefixStore(f"mentornet/{_start[0]}/{what}", store)
