"""A student for texts as hashed n-grams."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

__all__ = ["NGramStudent"]


class NGramStudent(nn.Module):
    """A linear model on the hashed n-grams of a text.

    With z_g = idf_g for the n-grams g of a text, and 0 for all others, the logits are
    W z/‖z‖ + b. `prepare` sets the weights idf_g = 1 + log((1 + N)/(1 + n_g)) from the N training
    texts, of which n_g have g.

    Args:
        channels: number of ids, 0 for padding included.
        classes: number of classes K.
        dropout: share of the n-grams of a text that is left out in training, in [0, 1).
    """

    reads: ClassVar[str] = "tokens"
    prepared_by: ClassVar[int] = 1 << 40
    """How many training samples `prepare` sees: all of them."""

    idf: Tensor

    def __init__(self, channels: int = 1 << 10, classes: int = 10, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("idf", torch.ones(channels))
        self.weight = nn.Parameter(torch.zeros(channels, classes))
        self.bias = nn.Parameter(torch.zeros(classes))
        self.dropout = nn.Dropout(dropout)

    @torch.no_grad()
    def prepare(self, tokens: Tensor) -> None:
        """Set the weights of the n-grams by the ids of the training texts, `(N, L)`."""
        counts = torch.bincount(tokens.flatten().long(), minlength=len(self.idf))
        self.idf.copy_(1 + ((1 + len(tokens)) / (1 + counts)).log())

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of ids `(B, L)` that are padded with 0."""
        longest = max(1, int((tokens > 0).sum(1).amax()))
        ids = tokens[:, :longest].long()
        strength = self.idf[ids] * (ids > 0)
        strength = self.dropout(strength / strength.norm(dim=1, keepdim=True).clamp(min=1e-12))
        summed = nn.functional.embedding_bag(
            ids, self.weight, per_sample_weights=strength, mode="sum", padding_idx=0
        )
        return torch.as_tensor(summed + self.bias)
