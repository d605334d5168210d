"""Which samples a step sees, and as what: order, augmentation, standardisation.

Every draw depends on the seed and the epoch only, so a run that goes on from the end of an
epoch sees just what it would have seen, whatever the number of processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mentornet.data import Batch, Samples, augment, standardise
from mentornet.data.stream.fetching import Fetcher, Wanted
from mentornet.data.stream.streamed import Streamed
from mentornet.data.stream.views import COLOUR_DRAWS, VIEW_DRAWS, distort, scaled
from mentornet.distributed import Processes
from mentornet.randomness import generator

__all__ = [
    "BatchSettings",
    "Batches",
    "InMemoryBatches",
    "StreamedBatches",
    "eval_batches",
    "steps_per_epoch",
]

_ORDER, _AUGMENT, _SECOND = 1, 2, 5  # streams of randomness
_EVAL_PIXELS = 500 * 64 * 64  # of a batch that is only judged
_EVAL_MOST = {"cpu": 128}  # more do not stay in a CPU's cache: a third slower at 500
_EVAL_MOST_ELSEWHERE = 500

Share = tuple[Tensor, slice]
"""The samples of a whole batch, and which of them are ours."""


def steps_per_epoch(count: int, batch_size: int) -> int:
    """How many batches of at most `batch_size` an epoch takes."""
    return -(-count // batch_size)


@dataclass(frozen=True)
class BatchSettings:
    """How batches are made, whatever the images are.

    Args:
        batch_size: B, at most.
        seed: of order and augmentation.
        device: where the batches are made.
        channels_last: the memory order of the images.
        processes: the processes that share each batch; one gets its part of it.
        second_view: whether each batch has a second random view of its samples.
    """

    batch_size: int
    seed: int
    device: torch.device | str = "cpu"
    channels_last: bool = False
    processes: Processes = field(default_factory=Processes)
    second_view: bool = False


class Batches(ABC):
    """An epoch at a time: all samples in a random order, in batches of equal size (±1).

    (Batches of equal size have no tail of a few samples, which batch norm would not bear.)

    Args:
        images: the training images.
        settings: how batches are made.
    """

    def __init__(self, images: Samples, settings: BatchSettings) -> None:
        self.processes, self.seed, self.device = settings.processes, settings.seed, settings.device
        self.count = len(images)
        self.given_label = images.given_label.to(self.device)
        self.steps = steps_per_epoch(self.count, settings.batch_size)
        self.memory_format = (
            torch.channels_last if settings.channels_last else torch.preserve_format
        )
        self.streams = (_AUGMENT, _SECOND) if settings.second_view else (_AUGMENT,)
        self.fetcher: Fetcher | None = None

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """The batches of that epoch."""
        draws = generator(self.seed, _ORDER, epoch)
        order = torch.randperm(self.count, generator=draws, dtype=torch.int32)  # half the memory
        shares = [
            (part, self.processes.share(len(part))) for part in order.tensor_split(self.steps)
        ]
        alone = self.processes.alone
        for (samples, mine), (inputs, *second) in zip(
            shares, self._views(epoch, shares), strict=True
        ):
            whole = samples.long().to(self.device)
            part = whole if alone else whole[mine]
            shared = None if alone else Batch(whole, inputs[:0], self.given_label[whole])
            yield Batch(part, inputs, self.given_label[part], shared, *second)

    @abstractmethod
    def _views(self, epoch: int, shares: Sequence[Share]) -> Iterator[list[Tensor]]:
        """Our samples of each batch as the student sees them, once or in two views."""

    @abstractmethod
    def judged(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        """Samples as the student sees them at test time, in order, some at a time."""


class InMemoryBatches(Batches):
    """Small images, in memory: random windows, flips of colour images, mean 0 and variance 1.

    Args:
        images: the training images.
        settings: how batches are made.
        padding: of the random windows; None for no augmentation.
    """

    def __init__(self, images: Samples, settings: BatchSettings, *, padding: int | None) -> None:
        super().__init__(images, settings)
        self.padding, self.flip = padding, images.shape[0] == 3
        self.pixels = images.tensor.to(self.device)

    def _views(self, epoch: int, shares: Sequence[Share]) -> Iterator[list[Tensor]]:
        every = [generator(self.seed, stream, epoch) for stream in self.streams]
        for samples, mine in shares:
            pixels, views = self.pixels[samples[mine].long().to(self.device)], []
            for draws in every:
                view = pixels
                if self.padding is not None:
                    view = augment(
                        pixels, generator=draws, padding=self.padding, flip=self.flip,
                        part=(mine, len(samples)),
                    )  # fmt: skip
                views.append(standardise(view).to(memory_format=self.memory_format))
            yield views

    def judged(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        for images in eval_batches(pixels, self.device):
            yield images.to(memory_format=self.memory_format)


class StreamedBatches(Batches):
    """Large photographs, decoded by worker processes as they are needed: see `data.views`.

    Args:
        images: the training images.
        settings: how batches are made.
        augmented: random views; if not, the middle of every image.
        fetcher: who decodes.
    """

    def __init__(
        self, images: Samples, settings: BatchSettings, *, augmented: bool, fetcher: Fetcher
    ) -> None:
        super().__init__(images, settings)
        assert isinstance(images.inputs, Streamed)
        self.source, self.augmented, self.fetcher = images.inputs, augmented, fetcher
        self._fetch = fetcher.fetch

    def _views(self, epoch: int, shares: Sequence[Share]) -> Iterator[list[Tensor]]:
        every = [generator(self.seed, stream, epoch) for stream in self.streams]
        colours: deque[Tensor] = deque()

        def wanted() -> Iterator[Wanted]:
            for samples, mine in shares:
                places, views = self.source.places(samples[mine].tolist() * len(every)), None
                if self.augmented:
                    drawn = [
                        torch.rand(
                            len(samples), VIEW_DRAWS + COLOUR_DRAWS, generator=draws,
                            dtype=torch.float64,
                        )[mine]
                        for draws in every
                    ]  # fmt: skip
                    both = torch.cat(drawn)
                    views = both[:, :VIEW_DRAWS].contiguous()
                    colours.append(both[:, VIEW_DRAWS:])
                yield Wanted(places, self.source.side, views)

        for pixels in self._fetch(wanted()):
            images = scaled(pixels.to(self.device, non_blocking=True))
            if self.augmented:
                images = distort(images, colours.popleft())
            images = (2 * images - 1).contiguous(memory_format=self._order)
            yield list(images.chunk(len(every)))

    @property
    def _order(self) -> torch.memory_format:
        plain = self.memory_format == torch.preserve_format
        return torch.contiguous_format if plain else self.memory_format

    def judged(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        for images in eval_batches(pixels, self.device, self.fetcher):
            yield images.contiguous(memory_format=self._order)


def eval_batches(
    pixels: Tensor | Streamed, device: torch.device | str = "cpu", fetcher: Fetcher | None = None
) -> Iterator[Tensor]:
    """Samples as a student sees them at test time, in order, some at a time.

    Args:
        pixels: uint8 `(N, C, H, W)`, or where to find them.
        device: where the batches are made.
        fetcher: who decodes them, where they are not in memory.
    """
    size = _eval_size(pixels, torch.device(device).type)
    if not isinstance(pixels, Streamed):
        for part in pixels.split(size):
            yield standardise(part.to(device))
        return
    wanted = (
        Wanted(pixels.places(range(start, min(start + size, len(pixels)))), pixels.side)
        for start in range(0, len(pixels), size)
    )
    for part in (fetcher or Fetcher(0)).fetch(wanted):
        yield 2 * scaled(part.to(device)) - 1


def _eval_size(pixels: Tensor | Streamed, device: str) -> int:
    """How many images are judged at a time."""
    most = _EVAL_MOST.get(device, _EVAL_MOST_ELSEWHERE)
    return max(1, min(most, _EVAL_PIXELS // (pixels.shape[2] * pixels.shape[3])))
