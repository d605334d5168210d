"""A mixture of two normal distributions that follows a changing histogram."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.weighting.two_gaussians import are_separate, em_round

__all__ = ["TwoBells"]

_NARROWEST = 0.3  # least spread, so that the lower one does not shrink to the many losses near 0
_ROUNDS = 2  # rounds of EM per update


class TwoBells(nn.Module):
    """f(ℓ) = (1 − ε) N(ℓ; μ₁, σ₁) + ε N(ℓ; μ₂, σ₂) with μ₁ < μ₂, by two rounds of EM per update.

    The histogram changes little between two updates, so two rounds are enough to follow it.

    Args:
        edges: the edges between the bins, `(E,)`.
        least: the least mean of the distribution of larger losses, if it shall count.
    """

    parameters_: Tensor
    centres: Tensor

    def __init__(self, edges: Tensor, least: float = 0.0) -> None:
        super().__init__()
        self.least = least
        middle = torch.cat([edges[:1] / 2, (edges[1:] + edges[:-1]) / 2, edges[-1:]])
        self.register_buffer("centres", middle, persistent=False)
        start = torch.tensor([[0.5, 0.5], [0.5, 4.0], [0.5, 2.0]])  # shares, means, spreads
        self.register_buffer("parameters_", start)

    @torch.no_grad()
    def update(self, shares: Tensor) -> Tensor:
        """Fit the mixture to the histogram `shares`, `(E + 1,)`, and return ε, a scalar."""
        estimate = self.parameters_
        for _ in range(_ROUNDS):
            estimate = em_round(self.centres, shares, estimate, narrowest=_NARROWEST)
        self.parameters_ = estimate
        return self.rate()

    def rate(self) -> Tensor:
        """Return ε, the share of the distribution of larger losses; 0 if it does not stand out."""
        part, mean, _ = self.parameters_
        larger = torch.where(mean[1] >= mean[0], part[1], part[0])
        apart = are_separate(self.parameters_) & (mean.amax() >= self.least)
        return torch.where(apart, larger, torch.zeros_like(larger))
