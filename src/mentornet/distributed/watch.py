"""Detect lost processes: each process gives a sign of life at intervals.

If a process ends, its connections close, and the processes that wait for it raise an error at once.
If a machine is cut off, no connection closes, and only missing signs of life show it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

from mentornet.distributed.meeting import patience
from mentornet.errors import MentorNetError

__all__ = ["Watch", "watching"]

_DONE = b"done"
_LOST = ("gloo", "NCCL", "Connection closed", "Connection reset", "Broken pipe", "Timed out")


class Watch:
    """Gives signs of life, and checks those of others: rank 0 checks all, all others rank 0.

    Args:
        store: the store that holds the signs; a connection that nothing else uses.
        rank: the rank of this process.
        world: the number of processes.
        seconds: after how many seconds without a sign a process is lost.
    """

    def __init__(self, store: Any, rank: int, world: int, seconds: float) -> None:
        self.store, self.rank, self.seconds = store, rank, seconds
        self.others = [0] if rank else list(range(1, world))
        self._heard = dict.fromkeys(self.others, time.monotonic())
        self._signs = dict.fromkeys(self.others, b"")
        self._ended = Event()

    def start(self) -> None:
        """Start two threads: the one that checks goes on if a cut connection blocks the other."""
        for work in (self._talk, self._look):
            Thread(target=work, daemon=True).start()

    def say_done(self) -> None:
        """Stop, and tell the others that this process is done and not lost."""
        self.stop()
        with suppress(RuntimeError):  # the store may be gone already
            self.store.set(f"{self.rank}", _DONE)

    def stop(self) -> None:
        """Stop giving and checking signs."""
        self._ended.set()

    def silent(self) -> list[int]:
        """Return the ranks whose last sign is too old."""
        now = time.monotonic()
        return [
            other
            for other in self.others
            if self._signs[other] != _DONE and now - self._heard[other] > self.seconds
        ]

    def exchange(self, count: int) -> None:
        """Write our sign, and read those of others."""
        self.store.set(f"{self.rank}", f"{count}")
        for other in self.others:
            if self.store.check([f"{other}"]):
                sign = self.store.get(f"{other}")
                if sign != self._signs[other]:
                    self._signs[other], self._heard[other] = sign, time.monotonic()

    def _talk(self) -> None:
        count = 0
        while not self._ended.wait(self.seconds / 10):
            count += 1
            with suppress(RuntimeError):  # a failed exchange counts as a missing sign
                self.exchange(count)

    def _look(self) -> None:
        while not self._ended.wait(self.seconds / 10):
            silent = self.silent()
            if silent:
                print(
                    f"mentornet: rank {self.rank} has not heard of rank {silent[0]} for "
                    f"{self.seconds:g} seconds and ends; with --max-restarts torchrun restarts all "
                    "processes from the last checkpoint",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
                os._exit(1)


@contextmanager
def watching(store: Any, rank: int, world: int) -> Iterator[None]:
    """Run a `Watch` inside: if another process is lost, this one ends with a one-line message.

    Args:
        store: see `Watch`.
        rank: the rank of this process.
        world: the number of processes.
    """
    watch = Watch(store, rank, world, patience())
    watch.start()
    try:
        yield
        watch.say_done()
    except RuntimeError as error:
        if not any(word in f"{error}" for word in _LOST):
            raise
        raise MentorNetError(
            f"rank {rank} has lost another process and ends; with --max-restarts torchrun restarts "
            "all processes from the last checkpoint"
        ) from None
    finally:
        watch.stop()
