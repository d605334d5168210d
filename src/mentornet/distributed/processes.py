"""One of several processes, and what it tells the others."""

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

_AT_MOST = timedelta(hours=2)  # for others that give signs of life; see `watch`
_start: list[str] = []  # the name of this start, once the processes have met
_watched: list[bool] = []  # whether somebody watches the others already


@dataclass(frozen=True)
class Processes:
    """Which of how many processes this is; by default the only one.

    Args:
        rank: from 0.
        world: how many.
    """

    rank: int = 0
    world: int = 1

    @classmethod
    def join(cls) -> Processes:
        """Meet the other processes that `torchrun` has started; alone, where it has not."""
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
        """What torch's process group says, where there is one."""
        if dist.is_available() and dist.is_initialized():
            return cls(dist.get_rank(), dist.get_world_size())
        return cls()

    def watched(self) -> AbstractContextManager[None]:
        """Inside, no process outlives the others for long; see `watch`."""
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
        """Whether there is nobody to talk to."""
        return self.world == 1

    @property
    def first(self) -> bool:
        """Whether we are the one that writes and speaks."""
        return self.rank == 0

    def share(self, count: int) -> slice:
        """Which samples of a whole batch of `count` are ours: parts of equal size (±1), in order.

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
        """Where our `mine` samples are in the whole batch, and its size.

        Args:
            mine: how many we have.
            count: the size of the whole batch, shared out by `share`; None if all processes have as
                many as we do.
        """
        if count is None:
            return slice(self.rank * mine, (self.rank + 1) * mine), self.world * mine
        return self.share(count), count

    @torch.no_grad()
    def gather(self, columns: Sequence[Tensor], count: int | None = None) -> list[Tensor]:
        """Each column `(B,)` of all processes one after the other, in one exchange.

        A number takes 8 bytes. Numbers come through exactly, whole ones below 2⁵³.

        Args:
            columns: what this rank has to tell, all of one length and on one device.
            count: the size of the whole batch, shared out by `share`; None if all processes have as
                many as we do.
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
        """The sum over all processes, in place."""
        if not self.alone:
            dist.all_reduce(numbers)
        return numbers

    @torch.no_grad()
    def follow(self, *tensors: Tensor) -> None:
        """Put into each tensor what rank 0 has there."""
        if not self.alone:
            for tensor in tensors:
                dist.broadcast(tensor, 0)

    def agree(self, decision: bool, device: torch.device | str = "cpu") -> bool:
        """What rank 0 has decided."""
        if self.alone:
            return decision
        told = torch.tensor([int(decision)], device=device)
        self.follow(told)
        return bool(told.item())

    def leave(self) -> None:
        """End the process in good order, when all are done; alone, do nothing.

        The threads of gloo now and then abort a process that ends by itself, which `torchrun`
        takes for a failure.
        """
        if self.alone:
            return
        self.wait()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def wait(self) -> None:
        """Go on when all processes are here."""
        if not self.alone:
            dist.barrier()

    def check_same(self, digest: str, what: str, device: torch.device | str = "cpu") -> None:
        """Raise on every rank if they do not agree.

        Args:
            digest: of what should be equal, in hexadecimal.
            what: it is.
            device: that can talk to the others.
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
    """A part of the store that no earlier start has written to."""
    return torch._C._distributed_c10d.PrefixStore(f"mentornet/{_start[0]}/{what}", store)
