"""How pixels become the inputs of a pretrained network, which expects those it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["Preprocessing", "TokenInputs", "check_channels", "pretrained"]

Factory = TypeVar("Factory", bound=Callable[..., Any])


@dataclass(frozen=True)
class Preprocessing:
    """(x − μ)/σ of each channel, at the size that a network was trained with.

    Attributes:
        size: height and width of the images; others are resized.
        mean: μ of red, green and blue, where white is 255.
        deviation: σ of red, green and blue.

    >>> mid_grey = torch.full((1, 1, 2, 2), 127, dtype=torch.uint8)
    >>> Preprocessing(2, (127, 127, 127), (128, 128, 128))(mid_grey).shape
    torch.Size([1, 3, 2, 2])
    """

    size: int
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]

    def __post_init__(self) -> None:
        if self.size < 1:
            raise MentorNetError(f"size must be at least 1 pixel, got {self.size}")
        if len(self.mean) != 3 or len(self.deviation) != 3:
            raise MentorNetError(
                "mean and deviation must have a value for red, green and blue, got "
                f"{self.mean} and {self.deviation}"
            )
        if not all(0 < deviation < float("inf") for deviation in self.deviation):
            raise MentorNetError(f"deviation must be > 0, got {self.deviation}")

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of one input."""
        return 3, self.size, self.size

    def example(self) -> Tensor:
        """Return two inputs."""
        return torch.zeros(2, *self.shape)

    def __call__(self, pixels: Tensor) -> Tensor:
        """Return the inputs, float32 `(B, 3, size, size)`, of uint8 `(B, C, H, W)`.

        Grey images (C = 1) get three equal channels.
        """
        images = pixels.float()
        if images.shape[-2:] != (self.size, self.size):
            images = torch.nn.functional.interpolate(
                images, size=(self.size, self.size), mode="bicubic", antialias=True
            ).clamp(0, 255)
        mean, deviation = (
            torch.tensor(values, device=images.device).view(3, 1, 1)
            for values in (self.mean, self.deviation)
        )
        return (images - mean) / deviation


@dataclass(frozen=True)
class TokenInputs:
    """The same for a pretrained network that reads ids of word pieces, `(B, L)`, as they are."""

    def example(self) -> Tensor:
        """Return two inputs."""
        return torch.ones(2, 4, dtype=torch.int32)

    def __call__(self, tokens: Tensor) -> Tensor:
        """Return the ids."""
        return tokens


def check_channels(channels: int) -> None:
    """Raise if a pretrained network is asked for with other channels than red, green and blue."""
    if channels != 3:
        raise MentorNetError(f"a pretrained network reads 3 channels, got {channels}")


def pretrained(
    *, size: int, mean: tuple[float, float, float], deviation: tuple[float, float, float]
) -> Callable[[Factory], Factory]:
    """Mark a factory of a student of your own as pretrained, and say what its inputs are.

    The network then gets images prepared like this, a fresh last layer, and settings that suit a
    pretrained network.

    Args:
        size: height and width of the images that the network was trained with.
        mean: μ of red, green and blue, where white is 255.
        deviation: σ of red, green and blue.

    >>> @pretrained(size=224, mean=(127, 127, 127), deviation=(128, 128, 128))
    ... def mine(channels: int, classes: int) -> torch.nn.Module: ...
    """
    preprocessing = Preprocessing(size, mean, deviation)

    def mark(factory: Factory) -> Factory:
        factory.preprocessing = preprocessing  # type: ignore[attr-defined]
        return factory

    return mark
