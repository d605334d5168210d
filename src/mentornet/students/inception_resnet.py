"""Inception-ResNet v2 (Szegedy et al. 2017), the paper's student for ImageNet and WebVision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["InceptionResNetV2"]

_DECAY, _EPSILON = 0.9997, 1e-3  # decay and ε of batch norm (App. E)


def _conv(
    inputs: int, outputs: int, kernel: int | tuple[int, int], *, stride: int = 1, same: bool = True
) -> nn.Sequential:
    """Return a convolution, batch norm and ReLU; with `same` and stride 1 the size is kept."""
    sides = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = (sides[0] // 2, sides[1] // 2) if same else (0, 0)
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, sides, stride, padding, bias=False),
        nn.BatchNorm2d(outputs, eps=_EPSILON, momentum=1 - _DECAY),
        nn.ReLU(inplace=True),
    )


class _Side(nn.ModuleList):
    """Several branches of one input in parallel; their channels are concatenated."""

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([branch(images) for branch in self], 1)


class _Residual(nn.Module):
    """ReLU(x + s · up(branches(x))); without the scale s < 1, training would be unstable."""

    def __init__(
        self, width: int, branches: Sequence[nn.Module], joined: int, scale: float,
        *, activate: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.branches = _Side(branches)
        self.up = nn.Conv2d(joined, width, 1)
        self.scale, self.activate = scale, activate

    def forward(self, images: Tensor) -> Tensor:
        summed = images + self.scale * self.up(self.branches(images))
        return torch.relu(summed) if self.activate else summed


def _block35() -> _Residual:
    branches = [
        _conv(320, 32, 1),
        nn.Sequential(_conv(320, 32, 1), _conv(32, 32, 3)),
        nn.Sequential(_conv(320, 32, 1), _conv(32, 48, 3), _conv(48, 64, 3)),
    ]
    return _Residual(320, branches, 128, 0.17)


def _block17() -> _Residual:
    branches = [
        _conv(1088, 192, 1),
        nn.Sequential(_conv(1088, 128, 1), _conv(128, 160, (1, 7)), _conv(160, 192, (7, 1))),
    ]
    return _Residual(1088, branches, 384, 0.10)


def _block8(*, activate: bool = True) -> _Residual:
    branches = [
        _conv(2080, 192, 1),
        nn.Sequential(_conv(2080, 192, 1), _conv(192, 224, (1, 3)), _conv(224, 256, (3, 1))),
    ]
    scale = 0.20 if activate else 1.0
    return _Residual(2080, branches, 448, scale, activate=activate)


_FEWEST, _SIDE = 139, 299  # pixels: the fewest that it can read, and as many as in the paper


class InceptionResNetV2(nn.Module):
    """Inception-ResNet v2, for photographs of 299 × 299 pixels.

    Images of fewer than 139 pixels are enlarged to 299 first, so that it can also be trained on
    CIFAR-10, where its mentors are learned. It is the network of TensorFlow's slim library. With
    1,000 classes it has 59M parameters, as Table 1 counts: 55.8M, and 3.4M in an auxiliary head
    that exists while it trains. Batch norm has decay 0.9997 and ε 1e-3 (App. E).

    Args:
        channels: number of channels C of the images.
        classes: number of classes K.
        dropout: share of the last features that is dropped, in [0, 1); 0.2 in the paper.
        auxiliary: whether there is a second head in the middle of the network. As in slim, its loss
            is added times 0.4; after a forward pass in training, `auxiliary_logits` has its logits.
    """

    auxiliary_share = 0.4

    def __init__(
        self,
        channels: int = 3,
        classes: int = 1000,
        dropout: float = 0.2,
        auxiliary: bool = True,
    ) -> None:
        super().__init__()
        pool: Any = lambda: nn.MaxPool2d(3, 2)  # noqa: E731
        self.stem = nn.Sequential(
            _conv(channels, 32, 3, stride=2, same=False), _conv(32, 32, 3, same=False),
            _conv(32, 64, 3), pool(), _conv(64, 80, 1), _conv(80, 192, 3, same=False), pool(),
        )  # fmt: skip
        self.mixed_5b = _Side(
            [
                _conv(192, 96, 1),
                nn.Sequential(_conv(192, 48, 1), _conv(48, 64, 5)),
                nn.Sequential(_conv(192, 64, 1), _conv(64, 96, 3), _conv(96, 96, 3)),
                nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), _conv(192, 64, 1)),
            ]
        )
        self.blocks35 = nn.Sequential(*(_block35() for _ in range(10)))
        self.mixed_6a = _Side(
            [
                _conv(320, 384, 3, stride=2, same=False),
                nn.Sequential(
                    _conv(320, 256, 1), _conv(256, 256, 3),
                    _conv(256, 384, 3, stride=2, same=False),
                ),
                pool(),
            ]
        )  # fmt: skip
        self.blocks17 = nn.Sequential(*(_block17() for _ in range(20)))
        self.auxiliary: nn.Module | None = None
        if auxiliary:
            self.auxiliary = nn.Sequential(
                nn.AvgPool2d(5, 3), _conv(1088, 128, 1), nn.AdaptiveAvgPool2d(5),
                _conv(128, 768, 5, same=False), nn.Flatten(), nn.Linear(768, classes),
            )  # fmt: skip
        self.mixed_7a = _Side(
            [
                nn.Sequential(_conv(1088, 256, 1), _conv(256, 384, 3, stride=2, same=False)),
                nn.Sequential(_conv(1088, 256, 1), _conv(256, 288, 3, stride=2, same=False)),
                nn.Sequential(
                    _conv(1088, 256, 1), _conv(256, 288, 3),
                    _conv(288, 320, 3, stride=2, same=False),
                ),
                pool(),
            ]
        )  # fmt: skip
        self.blocks8 = nn.Sequential(*(_block8() for _ in range(9)), _block8(activate=False))
        self.last = _conv(2080, 1536, 1)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(1536, classes)
        self.auxiliary_logits: Tensor | None = None

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of images `(B, C, H, W)`."""
        if min(images.shape[-2:]) < _FEWEST:
            images = nn.functional.interpolate(images, (_SIDE, _SIDE), mode="bilinear")
        middle = self.blocks17(self.mixed_6a(self.blocks35(self.mixed_5b(self.stem(images)))))
        if self.training and self.auxiliary is not None:
            self.auxiliary_logits = self.auxiliary(middle)
        features = self.last(self.blocks8(self.mixed_7a(middle)))
        logits: Tensor = self.classify(self.dropout(features.mean((2, 3))))
        return logits
