"""The batches of an epoch: order, augmentation and standardisation of the samples.

All random draws depend only on the seed and the epoch. A run that is resumed after an epoch thus
has the same batches, with any number of processes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
    "TensorBatches",
    "eval_batches",
    "steps_per_epoch",
]

_ORDER, _AUGMENT, _SECOND = 1, 2, 5  # streams of randomness
_EVAL_PIXELS = 500 * 64 * 64  # the largest number of pixels in a batch of an evaluation
_EVAL_TOKENS = 1 << 15  # the largest number of tokens in a batch of an evaluation
_EVAL_MOST = {"cpu": 128}  # larger batches exceed the cache of a CPU: 500 is a third slower
_EVAL_MOST_ELSEWHERE = 500

Prepare = Callable[[Tensor], Tensor]
"""Makes what the student reads of a batch of pixels, uint8 `(B, C, H, W)`."""

Share = tuple[Tensor, slice]
"""The numbers of the samples in a whole batch, and which of them this process has."""


def steps_per_epoch(count: int, batch_size: int) -> int:
    """Return the number of batches of at most `batch_size` samples in an epoch."""
    return -(-count // batch_size)


@dataclass(frozen=True)
class BatchSettings:
    """How batches are made, for samples in memory and in files.

    Args:
        batch_size: the largest number of samples in a batch.
        seed: seed of the order and of the augmentation.
        device: the device of the batches.
        channels_last: whether images are stored with channels last.
        processes: the processes among which each batch is split.
        second_view: whether each batch has a second random view of its samples.
        prepare: prepares images for a pretrained student. If it is None, images in memory get mean
            0 and variance 1, and streamed ones are scaled to −1 … 1.
    """

    batch_size: int
    seed: int
    device: torch.device | str = "cpu"
    channels_last: bool = False
    processes: Processes = field(default_factory=Processes)
    second_view: bool = False
    prepare: Prepare | None = None


class Batches(ABC):
    """Gives the batches of an epoch: all samples in random order, in batches of equal size (±1).

    (With a last batch of very few samples, batch norm would not work.)

    Args:
        images: the training samples.
        settings: see `BatchSettings`.
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
        """Yield the batches of that epoch."""
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
        """Yield the inputs of our samples in each batch, as a list of one or two views."""

    @abstractmethod
    def evaluation_inputs(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        """Yield the inputs for an evaluation, in order, in batches."""


class InMemoryBatches(Batches):
    """Batches of images in memory: random crops, flips of colour images, mean 0 and variance 1.

    Args:
        images: the training samples.
        settings: see `BatchSettings`.
        padding: the number of pixels added to each side before a crop; None for no augmentation.
    """

    def __init__(self, images: Samples, settings: BatchSettings, *, padding: int | None) -> None:
        super().__init__(images, settings)
        self.padding, self.flip = padding, images.shape[0] == 3
        self.pixels, self.prepare = images.tensor.to(self.device), settings.prepare

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
                inputs = _prepared(view, self.prepare)
                views.append(inputs.to(memory_format=self.memory_format))
            yield views

    def evaluation_inputs(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        for inputs in eval_batches(pixels, self.device, prepare=self.prepare):
            yield inputs.to(memory_format=self.memory_format)


class TensorBatches(Batches):
    """Batches of vectors or tokens in memory, as they are.

    Args:
        samples: the training samples.
        settings: see `BatchSettings`.
    """

    def __init__(self, samples: Samples, settings: BatchSettings) -> None:
        super().__init__(samples, settings)
        self.inputs = samples.tensor.to(self.device)

    def _views(self, epoch: int, shares: Sequence[Share]) -> Iterator[list[Tensor]]:
        del epoch  # nothing is drawn
        for samples, mine in shares:
            inputs = self.inputs[samples[mine].long().to(self.device)]
            yield [inputs] * len(self.streams)

    def evaluation_inputs(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        yield from eval_batches(pixels, self.device)


class StreamedBatches(Batches):
    """Batches of images in files, which worker processes decode: see `data.stream.views`.

    Args:
        images: the training samples.
        settings: see `BatchSettings`.
        augmented: whether to take random views; if not, the centre of every image is taken.
        fetcher: decodes the images.
    """

    def __init__(
        self, images: Samples, settings: BatchSettings, *, augmented: bool, fetcher: Fetcher
    ) -> None:
        super().__init__(images, settings)
        assert isinstance(images.inputs, Streamed)
        self.source, self.augmented, self.fetcher = images.inputs, augmented, fetcher
        self._fetch, self.prepare = fetcher.fetch, settings.prepare

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
            images = 2 * images - 1 if self.prepare is None else self.prepare(255 * images)
            images = images.contiguous(memory_format=self._order)
            yield list(images.chunk(len(every)))

    @property
    def _order(self) -> torch.memory_format:
        plain = self.memory_format == torch.preserve_format
        return torch.contiguous_format if plain else self.memory_format

    def evaluation_inputs(self, pixels: Tensor | Streamed) -> Iterator[Tensor]:
        for images in eval_batches(pixels, self.device, self.fetcher, prepare=self.prepare):
            yield images.contiguous(memory_format=self._order)


def eval_batches(
    pixels: Tensor | Streamed,
    device: torch.device | str = "cpu",
    fetcher: Fetcher | None = None,
    *,
    prepare: Prepare | None = None,
) -> Iterator[Tensor]:
    """Yield the inputs for an evaluation, in order, in batches.

    Args:
        pixels: the images, uint8 `(N, C, H, W)`, or where their files are; vectors and tokens,
            `(N, …)`, stay as they are.
        device: the device of the batches.
        fetcher: decodes images in files; None to decode them in this process.
        prepare: prepares images for a pretrained student (see `BatchSettings`).
    """
    size = _eval_size(pixels, torch.device(device).type)
    if not isinstance(pixels, Streamed):
        for part in pixels.split(size):
            yield _prepared(part.to(device), prepare)
        return
    wanted = (
        Wanted(pixels.places(range(start, min(start + size, len(pixels)))), pixels.side)
        for start in range(0, len(pixels), size)
    )
    for part in (fetcher or Fetcher(0)).fetch(wanted):
        images = part.to(device)
        yield 2 * scaled(images) - 1 if prepare is None else prepare(images)


def _prepared(inputs: Tensor, prepare: Prepare | None) -> Tensor:
    """Return what the student reads of samples in memory; features are read as they are."""
    if inputs.ndim != 4:
        return inputs
    return standardise(inputs) if prepare is None else prepare(inputs)


def _eval_size(pixels: Tensor | Streamed, device: str) -> int:
    """Return the number of samples in a batch of an evaluation."""
    if not isinstance(pixels, Streamed) and pixels.ndim != 4:
        whole = pixels.is_floating_point()
        return _EVAL_MOST_ELSEWHERE if whole else max(1, _EVAL_TOKENS // pixels.shape[1])
    most = _EVAL_MOST.get(device, _EVAL_MOST_ELSEWHERE)
    return max(1, min(most, _EVAL_PIXELS // math.prod(pixels.shape[2:])))
