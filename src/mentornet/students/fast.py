"""A student for two CPU cores, after the ideas of airbench (Jordan 2024)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["FastStudent"]


class _Block(nn.Module):
    """Convolve, halve the size while there is any, convolve; batch norm and GELU after each."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)

    def forward(self, images: Tensor) -> Tensor:
        convolved = self.conv1(images)
        if convolved.shape[-1] > 1:
            convolved = nn.functional.max_pool2d(convolved, 2)
        middle = nn.functional.gelu(self.norm1(convolved), approximate="tanh")
        return nn.functional.gelu(self.norm2(self.conv2(middle)), approximate="tanh")


class FastStudent(nn.Module):
    """A 2 × 2 stem and three blocks, the last pooled by its maximum; 0.66M parameters.

    Pooling comes before the norm and the activation, so most of the work is done at a
    quarter of the pixels. Convolutions start by passing their inputs on, and draw only the filters
    beyond those.

    Args:
        channels: of the images.
        classes: K.
        width: channels of the first block; the others have twice and four times as many.
        dropout: share of the last features that is dropped.
    """

    def __init__(
        self, channels: int = 3, classes: int = 10, width: int = 48, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.stem = nn.Conv2d(channels, 24, 2)
        self.blocks = nn.Sequential(
            _Block(24, width), _Block(width, 2 * width), _Block(2 * width, 4 * width)
        )
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(4 * width, classes, bias=False)
        for module in self.blocks.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.dirac_(module.weight[: module.in_channels])

    def forward(self, images: Tensor) -> Tensor:
        """Logits `(B, K)` of images `(B, C, H, W)`."""
        features = self.blocks(nn.functional.gelu(self.stem(images), approximate="tanh"))
        pooled = self.dropout(features.amax((2, 3)).float())
        with torch.autocast(images.device.type, enabled=False):  # the logits keep full precision
            return torch.as_tensor(self.classify(pooled)) / 3
