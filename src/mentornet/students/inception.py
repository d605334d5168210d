"""The small inception of Zhang et al. (2017), the paper's 1.7M-parameter student."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.students.layers import conv_norm_relu

__all__ = ["SmallInception"]


class _Inception(nn.Module):
    """A 1 × 1 and a 3 × 3 convolution in parallel; their channels are concatenated."""

    def __init__(self, inputs: int, ones: int, threes: int) -> None:
        super().__init__()
        self.one = conv_norm_relu(inputs, ones, 1)
        self.three = conv_norm_relu(inputs, threes, 3)

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([self.one(images), self.three(images)], dim=1)


class _Downsample(nn.Module):
    """A 3 × 3 convolution and a 3 × 3 maximum in parallel, both with stride 2."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolution = conv_norm_relu(inputs, outputs, 3, stride=2)
        self.maximum = nn.MaxPool2d(3, stride=2, padding=1)

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([self.convolution(images), self.maximum(images)], dim=1)


class SmallInception(nn.Module):
    """The paper's small inception for 32 × 32 images (Zhang et al. 2017); 1.65M parameters.

    This is the number for 10 classes. Table 1 prints 1.7M, which is the same to two digits.

    Args:
        channels: number of channels C of the images.
        classes: number of classes K.
        dropout: share of the last features that is dropped, in [0, 1); 0.5 in the paper.
    """

    def __init__(self, channels: int = 3, classes: int = 10, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            conv_norm_relu(channels, 96, 3),
            _Inception(96, 32, 32),
            _Inception(64, 32, 48),
            _Downsample(80, 80),
            _Inception(160, 112, 48),
            _Inception(160, 96, 64),
            _Inception(160, 80, 80),
            _Inception(160, 48, 96),
            _Downsample(144, 96),
            _Inception(240, 176, 160),
            _Inception(336, 176, 160),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(336, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of images `(B, C, H, W)`."""
        return torch.as_tensor(self.classify(self.dropout(self.features(images))))
