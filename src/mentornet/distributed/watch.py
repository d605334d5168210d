"""Whether the other processes are still there: each gives a sign of life now and then.

A process that dies closes its connections, and whoever waits for it hears of that at once. A
machine that is cut off closes nothing: only its silence tells.
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
    """Gives signs of life, and listens for those of others: rank 0 for all, all for rank 0.

    Args:
        store: where signs are left; a connection that nobody else uses.
        rank: ours.
        world: how many there are.
        seconds: of silence after which another is lost.
    """

    def __init__(self, store: Any, rank: int, world: int, seconds: float) -> None:
        self.store, self.rank, self.seconds = store, rank, seconds
        self.others = [0] if rank else list(range(1, world))
        self._heard = dict.fromkeys(self.others, time.monotonic())
        self._signs = dict.fromkeys(self.others, b"")
        self._ended = Event()

    def start(self) -> None:
        """From now on; by two threads, as a connection that is cut may hold up the one."""
        for work in (self._talk, self._look):
            Thread(target=work, daemon=True).start()

    def say_done(self) -> None:
        """Say that our silence will mean nothing."""
        self.stop()
        with suppress(RuntimeError):  # perhaps nobody listens any more
            self.store.set(f"{self.rank}", _DONE)

    def stop(self) -> None:
        """No more signs, and no more listening."""
        self._ended.set()

    def silent(self) -> list[int]:
        """Who has not been heard of for too long."""
        now = time.monotonic()
        return [
            other
            for other in self.others
            if self._signs[other] != _DONE and now - self._heard[other] > self.seconds
        ]

    def exchange(self, count: int) -> None:
        """Leave our sign, and look for those of others."""
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
            with suppress(RuntimeError):  # that is silence too
                self.exchange(count)

    def _look(self) -> None:
        while not self._ended.wait(self.seconds / 10):
            silent = self.silent()
            if silent:
                print(
                    f"mentornet: rank {self.rank} has not heard of rank {silent[0]} for "
                    f"{self.seconds:g} seconds and gives up; with --max-restarts torchrun starts "
                    "all anew, from the last checkpoint",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
                os._exit(1)


@contextmanager
def watching(store: Any, rank: int, world: int) -> Iterator[None]:
    """Inside, no process outlives the others for long, and what it says of that is one line.

    Args:
        store: as for `Watch`.
        rank: ours.
        world: how many there are.
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
            f"rank {rank} has lost another process and ends; with --max-restarts torchrun starts "
            "all anew, from the last checkpoint"
        ) from None
    finally:
        watch.stop()
