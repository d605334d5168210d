"""Worker processes that read and decode views before the student needs them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.multiprocessing import get_context
from torch.utils.data import DataLoader, Dataset

from mentornet.data.files.decode import UnreadableImage, quiet, take_turns
from mentornet.data.stream.streamed import Place, read_place
from mentornet.data.stream.views import view
from mentornet.errors import MentorNetError, first_line
from mentornet.locking import let_go
from mentornet.randomness import generator

__all__ = ["Fetcher", "Wanted", "default_workers"]

_AHEAD = 4  # batches that each worker prepares in advance
_GREY = 127  # value of all pixels of a view that cannot be read


class Wanted(NamedTuple):
    """A request for a batch of views.

    Attributes:
        places: the places of the B images.
        side: height and width of the views.
        draws: `(B, VIEW_DRAWS)` for random views; None for the middle of each image.
    """

    places: list[Place]
    side: int
    draws: Tensor | None = None


class _Fetched(NamedTuple):
    pixels: Tensor
    bad: list[tuple[str, str]]


def default_workers() -> int:
    """One worker less than this process has cores, at least 1 and at most 8."""
    processes = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return min(8, max(1, len(allowed(0)) // processes - 1))


class Fetcher:
    """Gives batches of views in the order of the requests, decoded in advance by worker processes.

    The workers know only what each request tells them. So they need no memory for the dataset, and
    their number does not change the result.

    Args:
        workers: number of processes; 0 to decode in this process.
        skip_bad: whether an image that cannot be read becomes a grey one and is listed in `bad`;
            if not, it is an error.
    """

    def __init__(self, workers: int, *, skip_bad: bool = False) -> None:
        self.skip_bad = skip_bad
        self.bad: dict[str, str] = {}
        """Images that could not be read, by name, and the reasons."""
        self._queue = _Queue()
        ahead: dict[str, Any] = {"prefetch_factor": _AHEAD} if workers else {}
        turn = get_context().Lock() if workers else None
        self._loader = DataLoader(
            _Decoder(), sampler=self._queue, batch_size=None, num_workers=workers,
            collate_fn=_as_it_is, persistent_workers=workers > 0, generator=generator(0),
            worker_init_fn=partial(_in_worker, turn), pin_memory=torch.cuda.is_available(), **ahead,
        )  # fmt: skip

    def fetch(self, wanted: Iterable[Wanted]) -> Iterator[Tensor]:
        """Each batch as uint8 `(B, 3, side, side)`, in the channels-last memory format."""
        self._queue.wanted = wanted
        for fetched in self._alive():
            for name, reason in fetched.bad:
                if not self.skip_bad:
                    raise UnreadableImage(name, f"{reason}; set skip_bad to use a grey one")
                self.bad[name] = reason
            yield fetched.pixels

    def _alive(self) -> Iterator[_Fetched]:
        """The results of the workers; a worker that was killed is reported to the user."""
        source = iter(self._loader)
        while True:
            try:
                yield next(source)
            except StopIteration:  # noqa: PERF203 - one try for each batch is cheap
                return
            except RuntimeError as error:
                if "worker" not in str(error):
                    raise
                raise MentorNetError(
                    f"a process that decodes images has died ({first_line(error)}); if memory ran "
                    "out, try fewer workers or a smaller batch_size"
                ) from None


@dataclass
class _Queue:
    """The requests, in the role of the sampler of a `DataLoader`."""

    wanted: Iterable[Wanted] = ()

    def __iter__(self) -> Iterator[Wanted]:
        return iter(self.wanted)


class _Decoder(Dataset[_Fetched]):
    """Runs in the workers: takes a request and returns views. Errors are returned as data."""

    def __getitem__(self, wanted: Any) -> _Fetched:
        places, side, draws = wanted
        views = np.full((len(places), side, side, 3), _GREY, np.uint8)
        bad = []
        chosen = [None] * len(places) if draws is None else draws.numpy()
        with quiet():
            for number, (place, draw) in enumerate(zip(places, chosen, strict=True)):
                try:
                    views[number] = view(read_place(place), side, draw)
                except UnreadableImage as error:  # noqa: PERF203 - one bad image must not stop the batch
                    bad.append((error.name, error.reason))
        return _Fetched(torch.from_numpy(views).permute(0, 3, 1, 2), bad)


def _in_worker(turn: Any, number: int) -> None:
    del number
    take_turns(turn)  # large images are decoded by one worker at a time
    let_go()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the process that it works for has died, even by SIGKILL.

    PyTorch's own watch looks at the process that forked the worker. That is another one if Python
    starts processes from a fork server, as it does by default from 3.14 on.
    """
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _as_it_is(fetched: Any) -> Any:
    return fetched
