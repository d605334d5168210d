"""A small student for small images, such as digits and Fashion-MNIST."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.students.layers import conv_norm_relu

__all__ = ["SmallCNN"]


class SmallCNN(nn.Module):
    """A small network of four convolutions, for grey images of 8 × 8 pixels or more.

    The second and the fourth 3 × 3 convolution are followed by pooling. It has about 0.07M
    parameters at width 32.

    Args:
        channels: number of channels C of the images.
        classes: number of classes K.
        width: number of channels of the first two convolutions; the others have twice as many.
        dropout: share of the last features that is dropped, in [0, 1).
    """

    def __init__(
        self, channels: int = 1, classes: int = 10, width: int = 32, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.features = nn.Sequential(
            conv_norm_relu(channels, width, 3),
            conv_norm_relu(width, width, 3),
            nn.MaxPool2d(2),
            conv_norm_relu(width, 2 * width, 3),
            conv_norm_relu(2 * width, 2 * width, 3),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(8 * width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of images `(B, C, H, W)`."""
        features: Tensor = self.dropout(self.features(images))
        return torch.as_tensor(self.classify(features))
