"""The wide residual network of the paper's CIFAR experiments (Zagoruyko et al. 2016)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from mentornet.errors import MentorNetError

__all__ = ["WideResNet", "resnet101"]

_LEAK, _EPSILON, _DECAY = 0.1, 1e-3, 0.9  # of leaky ReLU, and of batch norm


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=_EPSILON, momentum=1 - _DECAY)


def _activate(images: Tensor) -> Tensor:
    return F.leaky_relu(images, _LEAK)


class _Unit(nn.Module):
    """s(x) + conv(σ(norm(conv(σ(norm(x)))))), where σ is the leaky ReLU and s is the shortcut.

    The shortcut has no parameters. If the stride is 2, it takes means of 2 × 2 pixels; missing
    channels are zeros, half of them before and half after those of x. The first unit of the network
    is norm(σ(x)) in place of σ(norm(x)), and its shortcut starts there.
    """

    def __init__(self, inputs: int, outputs: int, stride: int, *, first: bool = False) -> None:
        super().__init__()
        self.norm1 = _norm(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm2 = _norm(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.first, self.stride, self.added = first, stride, outputs - inputs

    def forward(self, images: Tensor) -> Tensor:
        if self.first:
            kept = ready = self.norm1(_activate(images))
        else:
            kept, ready = images, _activate(self.norm1(images))
        if self.stride > 1:
            kept = F.avg_pool2d(kept, self.stride, ceil_mode=True)
        if self.added:
            before = self.added // 2
            kept = F.pad(kept, (0, 0, 0, 0, before, self.added - before))
        change: Tensor = self.conv2(_activate(self.norm2(self.conv1(ready))))
        return kept + change


class WideResNet(nn.Module):
    """A wide residual network as the authors of MentorNet released it, for small colour images.

    A convolution with 16 channels, three stages of residual units at sizes 1, ½ and ¼ with 16, 32
    and 64 times `width` channels, batch norm and leaky ReLU, the mean, and a linear layer. As in
    their code, leaky ReLU has slope 0.1, shortcuts have no parameters, batch norm has ε 1e-3 and
    decay 0.9, the weights of a k × k convolution with C outputs start from N(0, 2 / (k² C)), and
    those of the linear layer with D inputs from U(±√(3 / D)). One thing differs: a convolution with
    stride 2 pads every side by a pixel, where TensorFlow pads only the right and the lower one.

    Args:
        channels: number of channels C of the images.
        classes: number of classes K.
        units: number of residual units per stage.
        width: the factor of 16, 32 and 64 channels.
        dropout: share of the last features that is dropped, in [0, 1).
    """

    def __init__(
        self,
        channels: int = 3,
        classes: int = 10,
        units: int = 9,
        width: int = 10,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if units < 1:
            raise MentorNetError(f"units must be ≥ 1, got {units}")
        stages: list[nn.Module] = []
        inputs = 16
        for stage, outputs in enumerate((16 * width, 32 * width, 64 * width)):
            for place in range(units):
                stride = 2 if stage and not place else 1
                stages.append(_Unit(inputs, outputs, stride, first=not stages))
                inputs = outputs
        self.stem = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.units = nn.Sequential(*stages)
        self.norm = _norm(inputs)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(inputs, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        limit = math.sqrt(3 / inputs)
        nn.init.uniform_(self.classify.weight, -limit, limit)
        nn.init.zeros_(self.classify.bias)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of images `(B, C, H, W)`."""
        features = _activate(self.norm(self.units(self.stem(images)))).mean((2, 3))
        return torch.as_tensor(self.classify(self.dropout(features)))


def resnet101(channels: int = 3, classes: int = 10, dropout: float = 0.0) -> WideResNet:
    """The student that the paper calls resnet-101: 84M parameters.

    It is not a ResNet-101. The authors' released code builds a pre-activation wide network with
    160, 320 and 640 channels and 9 units per stage, each of two 3 × 3 convolutions without a
    bottleneck (see `WideResNet`). It has 84.6M parameters for 10 classes and 84.7M for 100; Table 1
    prints 84M. With shortcuts of 1 × 1 convolutions it would have 84.9M, so the shortcuts without
    parameters, which the released code has, are also closer to the table.
    """
    return WideResNet(channels, classes, dropout=dropout)
