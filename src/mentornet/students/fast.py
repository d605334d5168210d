"""A student that trains fast on a CPU, with ideas of airbench (Jordan 2024)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["FastStudent"]


class _Block(nn.Module):
    """Two convolutions with pooling between them, and batch norm and GELU after each."""

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
    """A fast network for small colour images on a CPU; 1.1M parameters.

    It has a 2 × 2 stem and three blocks, the last pooled by its maximum. On a CPU the first block,
    which sees nearly all pixels, costs most. So it is narrow, and the others are 4 and 8 times as
    wide. Pooling comes before the norm and the activation. Convolutions start by passing their
    inputs on, and draw only the filters beyond those. `prepare` sets the stem once so that it
    whitens the patches it sees.

    Args:
        channels: number of channels C of the images.
        classes: number of classes K.
        width: number of channels of the first block.
        dropout: share of the last features that is dropped, in [0, 1).
    """

    def __init__(
        self, channels: int = 3, classes: int = 10, width: int = 32, dropout: float = 0.0
    ) -> None:
        super().__init__()
        patch = 4 * channels
        self.stem = nn.Conv2d(channels, 2 * patch, 2)
        self.blocks = nn.Sequential(
            _Block(2 * patch, width), _Block(width, 4 * width), _Block(4 * width, 8 * width)
        )
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(8 * width, classes, bias=False)
        for module in self.blocks.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.dirac_(module.weight[: module.in_channels])

    @torch.no_grad()
    def prepare(self, images: Tensor) -> None:
        """Set the stem's filters to ± vᵀ/√(λ + ε), and freeze them.

        v and λ are the eigenvectors and eigenvalues of the covariance of the 2 × 2 patches of
        `images`, `(N, C, H, W)`. The inputs of the first block are then uncorrelated and of equal
        scale, so it need not spend epochs on the correlation of neighbouring pixels.
        """
        patches = nn.functional.unfold(images, 2).transpose(1, 2).flatten(0, 1).double()
        scale, direction = torch.linalg.eigh(patches.T @ patches / len(patches))
        filters = (direction / (scale + 5e-4).sqrt()).T.float()
        filters = filters.view(-1, *self.stem.weight.shape[1:])
        self.stem.weight.copy_(torch.cat([filters, -filters]))
        self.stem.weight.requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of images `(B, C, H, W)`."""
        features = self.blocks(nn.functional.gelu(self.stem(images), approximate="tanh"))
        pooled = self.dropout(features.amax((2, 3)).float())
        with torch.autocast(images.device.type, enabled=False):  # keep full precision
            return torch.as_tensor(self.classify(pooled)) / 3
