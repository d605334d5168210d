"""Layers that several students share."""

from __future__ import annotations

from torch import nn

__all__ = ["conv_norm_relu"]


def conv_norm_relu(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution that keeps the size (divided by the stride), batch norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )
