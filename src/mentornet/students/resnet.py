"""Pre-activation residual networks for small images (He et al. 2016, Zagoruyko et al. 2016)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError

__all__ = ["ResNet"]


class _Unit(nn.Module):
    """x + conv(ReLU(norm(conv(ReLU(norm(x)))))), with a 1 × 1 shortcut if the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        same = inputs == outputs and stride == 1
        self.shortcut = None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        ready = torch.relu(self.norm1(images))
        kept = images if self.shortcut is None else self.shortcut(ready)
        return kept + self.conv2(torch.relu(self.norm2(self.conv1(ready))))


class ResNet(nn.Module):
    """A residual network of any depth and width, for small colour images.

    It has three stages of residual units at sizes 1, ½ and ¼, then the mean and a linear layer.

    Args:
        channels: number of channels C of the images.
        classes: number of classes K.
        depth: number of layers, 6 n + 2 with n ≥ 1 units per stage.
        width: the stages have 16, 32 and 64 times this many channels.
        dropout: share of the last features that is dropped, in [0, 1).
    """

    def __init__(
        self,
        channels: int = 3,
        classes: int = 10,
        depth: int = 20,
        width: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if depth < 8 or (depth - 2) % 6:
            raise MentorNetError(f"depth must be 6 n + 2 (8, 14, 20, …), got {depth}")
        units: list[nn.Module] = []
        inputs = 16
        for stage, outputs in enumerate((16 * width, 32 * width, 64 * width)):
            for unit in range((depth - 2) // 6):
                units.append(_Unit(inputs, outputs, 2 if stage and not unit else 1))
                inputs = outputs
        self.stem = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.units = nn.Sequential(*units)
        self.norm = nn.BatchNorm2d(inputs)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of images `(B, C, H, W)`."""
        features = torch.relu(self.norm(self.units(self.stem(images)))).mean((2, 3))
        return torch.as_tensor(self.classify(self.dropout(features)))
