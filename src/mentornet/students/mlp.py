"""A student for rows of a table and for vectors."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

__all__ = ["MLP"]


class MLP(nn.Module):
    """A multi-layer perceptron for rows of a table and for vectors, such as embeddings.

    Each hidden layer is followed by layer norm, GELU and dropout. A linear layer from the inputs to
    the logits is added, so that what is linear is learned at once.

    Args:
        channels: number of values D of a vector.
        classes: number of classes K.
        width: number of units of each hidden layer.
        depth: number of hidden layers.
        dropout: share of the units of each hidden layer that is dropped, in [0, 1).
    """

    reads: ClassVar[str] = "vectors"

    def __init__(
        self,
        channels: int = 64,
        classes: int = 10,
        width: int = 256,
        depth: int = 2,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = channels
        for _ in range(depth):
            layers += [nn.Linear(before, width), nn.LayerNorm(width), nn.GELU()]
            before = width
        self.hidden = nn.Sequential(*layers)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(before, classes)
        self.linear = nn.Linear(channels, classes, bias=False)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.classify.weight)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of vectors `(B, D)`."""
        hidden = self.dropout(self.hidden(vectors))
        return torch.as_tensor(self.classify(hidden) + self.linear(vectors))
