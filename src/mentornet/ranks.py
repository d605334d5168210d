"""The processes of one training, on one machine or many: who we are, and what the others saw.

Every rank computes its own part of a batch, and then they tell each other a few numbers a sample.
What follows from those, percentiles, weights, histories, mentors, every rank works out for the
whole batch, and so comes to the same result as one process would.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist

from mentornet.errors import MentorNetError

__all__ = ["Ranks", "job", "world_size"]

_PATIENCE = timedelta(minutes=10)  # how long a rank waits for the others before it gives up


def world_size() -> int:
    """How many processes `torchrun` has started for this training; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "LOCAL_WORLD_SIZE" in os.environ else 1


def job() -> str | None:
    """What `torchrun` calls this job through all its restarts; None without it."""
    return os.environ.get("TORCHELASTIC_RUN_ID") if world_size() > 1 else None


def _store() -> Any:
    """Where the processes find each other.

    The agent of `torchrun` keeps one store through all restarts. Each start looks in a place of
    its own there, or it would find the addresses of processes that are dead.
    """
    agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    store = torch._C._distributed_c10d.TCPStore(
        os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), world_size(),
        is_master=not agent and os.environ["RANK"] == "0", timeout=_PATIENCE,
    )  # fmt: skip
    start = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return torch._C._distributed_c10d.PrefixStore(f"mentornet/{start}", store)


@dataclass(frozen=True)
class Ranks:
    """Which of how many processes this is; by default the only one.

    Args:
        rank: from 0.
        world: how many.
    """

    rank: int = 0
    world: int = 1

    @classmethod
    def join(cls) -> Ranks:
        """Meet the other processes that `torchrun` has started; alone, where it has not."""
        if world_size() == 1:
            return cls()
        if not dist.is_initialized():
            backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
            dist.init_process_group(
                backend, store=_store(), rank=int(os.environ["RANK"]), world_size=world_size(),
                timeout=_PATIENCE,
            )  # fmt: skip
        return cls.here()

    @classmethod
    def here(cls) -> Ranks:
        """What torch's process group says, where there is one."""
        if dist.is_available() and dist.is_initialized():
            return cls(dist.get_rank(), dist.get_world_size())
        return cls()

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

        >>> [Ranks(rank, 3).share(8) for rank in range(3)]
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
            count: the size of the whole batch, shared out by `share`; None if all ranks have as
                many as we do.
        """
        if count is None:
            return slice(self.rank * mine, (self.rank + 1) * mine), self.world * mine
        return self.share(count), count

    def check_equal(self, mine: int) -> None:
        """Raise on every rank unless all have as many samples; on the CPU, where that is cheap."""
        (sizes,) = self.gather([torch.tensor([mine])])
        if (sizes != sizes[0]).any():
            raise MentorNetError(
                f"the processes have batches of {sizes.tolist()} samples, and they must be of one "
                "size: use a DistributedSampler, which pads, and drop_last where batches are cut"
            )

    @torch.no_grad()
    def gather(self, columns: Sequence[Tensor], count: int | None = None) -> list[Tensor]:
        """Each column `(B,)` of all ranks one after the other, in one exchange of 8 bytes a number.

        Numbers come through exactly, whole ones below 2⁵³.

        Args:
            columns: what this rank has to tell, all of one length and on one device.
            count: the size of the whole batch, shared out by `share`; None if all ranks have as
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
        """The sum over all ranks, in place."""
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
        """Go on when all ranks are here."""
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
