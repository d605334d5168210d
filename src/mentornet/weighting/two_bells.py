"""A mixture of two normal distributions, fitted to a histogram as it changes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.weighting.two_gaussians import are_separate, em_round

__all__ = ["TwoBells"]

_NARROWEST = 0.3  # spread, so that the first bell does not shrink to the many losses near 0
_ROUNDS = 2  # of expectation and maximisation, at each look


class TwoBells(nn.Module):
    """f(ℓ) = (1 − ε) N(ℓ; μ₁, σ₁) + ε N(ℓ; μ₂, σ₂), μ₁ < μ₂, by two rounds of EM a look.

    Between two looks the histogram changes little, so that few rounds keep up with it.

    Args:
        edges: the losses between the bins, `(E,)`.
    """

    parameters_: Tensor
    centres: Tensor

    def __init__(self, edges: Tensor) -> None:
        super().__init__()
        middle = torch.cat([edges[:1] / 2, (edges[1:] + edges[:-1]) / 2, edges[-1:]])
        self.register_buffer("centres", middle, persistent=False)
        start = torch.tensor([[0.5, 0.5], [0.5, 4.0], [0.5, 2.0]])  # shares, means, spreads
        self.register_buffer("parameters_", start)

    @torch.no_grad()
    def update(self, shares: Tensor) -> Tensor:
        """Fit to the histogram `shares`, `(E + 1,)`, and return ε, a scalar."""
        estimate = self.parameters_
        for _ in range(_ROUNDS):
            estimate = em_round(self.centres, shares, estimate, narrowest=_NARROWEST)
        self.parameters_ = estimate
        return self.rate()

    def rate(self) -> Tensor:
        """ε, the share of the bell of larger losses; 0 while the two are one."""
        part, mean, _ = self.parameters_
        larger = torch.where(mean[1] >= mean[0], part[1], part[0])
        return torch.where(are_separate(self.parameters_), larger, torch.zeros_like(larger))
