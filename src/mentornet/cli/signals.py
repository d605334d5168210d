"""Signals that end a command: they are raised as exceptions, so that files and processes close."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["TerminatedError", "raised_signals"]


class TerminatedError(KeyboardInterrupt):
    """The process was asked to end by a signal other than that of Ctrl-C.

    Attributes:
        signal: its number; shells expect the exit code 128 + this.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = number


@contextmanager
def raised_signals() -> Iterator[None]:
    """A context in which SIGTERM and SIGHUP raise `TerminatedError`.

    A signal that is ignored, as SIGHUP is under `nohup`, stays ignored. Processes of `torchrun` end
    at once, because one that waits for the others cannot raise anything.
    """
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    if not main or os.environ.get("WORLD_SIZE", "1") != "1":
        yield
        return
    ours, before = os.getpid(), {}

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second signal ends us at once
        if os.getpid() != ours:  # a forked process, which inherits this function
            os.kill(os.getpid(), number)
        raise TerminatedError(number)

    for name in names:
        number = getattr(signal, name)
        if signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
