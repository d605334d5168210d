"""Which samples a step sees, and as what: order, augmentation, standardisation.

Every draw depends on the seed and the epoch only, so a run that goes on from the end of an
epoch sees just what it would have seen.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from mentornet.data import Batch, Images, augment, standardise
from mentornet.randomness import generator
from mentornet.ranks import Ranks

__all__ = ["Batches", "eval_batches", "steps_per_epoch"]

_ORDER, _AUGMENT = 1, 2  # streams of randomness


def steps_per_epoch(count: int, batch_size: int) -> int:
    """How many batches of at most `batch_size` an epoch takes."""
    return -(-count // batch_size)


class Batches:
    """An epoch at a time: all samples in a random order, in batches of equal size (±1).

    (Batches of equal size have no tail of a few samples, which batch norm would not bear.)

    Args:
        images: the training images.
        batch_size: B, at most.
        seed: of order and augmentation.
        padding: of the random windows; None for no augmentation. Colour images are flipped too.
        device: where the batches are made.
        channels_last: the memory order of the images.
        ranks: the processes that share each batch; one gets its part of it.
    """

    def __init__(
        self,
        images: Images,
        batch_size: int,
        *,
        seed: int,
        padding: int | None,
        device: torch.device | str = "cpu",
        channels_last: bool = False,
        ranks: Ranks | None = None,
    ) -> None:
        self.ranks = ranks or Ranks()
        self.seed, self.padding, self.device = seed, padding, device
        self.pixels = images.pixels.to(device)
        self.given_label = images.given_label.to(device)
        self.steps = steps_per_epoch(len(images), batch_size)
        self.flip = images.shape[0] == 3
        self.memory_format = torch.channels_last if channels_last else torch.preserve_format

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """The batches of that epoch."""
        order = torch.randperm(len(self.pixels), generator=generator(self.seed, _ORDER, epoch))
        draws = generator(self.seed, _AUGMENT, epoch)
        for whole in order.to(self.device).tensor_split(self.steps):
            mine = self.ranks.share(len(whole))
            part = whole[mine]
            pixels = self.pixels[part]
            if self.padding is not None:
                pixels = augment(
                    pixels, generator=draws, padding=self.padding, flip=self.flip,
                    part=(mine, len(whole)),
                )  # fmt: skip
            images = standardise(pixels).to(memory_format=self.memory_format)
            shared = None
            if not self.ranks.alone:
                shared = Batch(whole, images[:0], self.given_label[whole])
            yield Batch(part, images, self.given_label[part], shared)


def eval_batches(
    pixels: Tensor, batch_size: int, device: torch.device | str = "cpu"
) -> Iterator[Tensor]:
    """Images as the student sees them at test time, in order."""
    for part in pixels.split(batch_size):
        yield standardise(part.to(device))
