"""Mixup (Zhang et al. 2018): pairs of samples are blended, and so are their targets."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mentornet.randomness import generator

__all__ = ["Mixer", "blend", "blended_loss"]


class Mixer:
    """Draws λ ~ Beta(α, α) and partners for each step; they depend only on seed and step.

    Args:
        alpha: α > 0; the larger, the closer λ is to ½.
        seed: seed of all draws.
    """

    def __init__(self, alpha: float, seed: int) -> None:
        self.alpha, self.seed = alpha, seed
        self.step = 0

    def draw(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return λ, `(B,)`, and the place of each sample's partner in the batch, `(B,)`.

        Args:
            weights: the relative probability of each sample to be a partner, `(B,)`, not all 0.
        """
        draws = generator(self.seed, 31, self.step)
        self.step += 1
        beta = np.random.default_rng(draws.initial_seed()).beta(
            self.alpha, self.alpha, len(weights)
        )
        share = torch.from_numpy(beta).to(weights)
        partner = torch.multinomial(
            weights.float().cpu(), len(weights), replacement=True, generator=draws
        )
        return share, partner.to(weights.device)


def blend(images: Tensor, share: Tensor, partner: Tensor) -> Tensor:
    """Return the blends λ x_i + (1 − λ) x_j, where j is the partner of i.

    >>> blend(torch.tensor([[0.0], [8.0]]), torch.tensor([0.75, 0.5]), torch.tensor([1, 1]))
    tensor([[2.],
            [8.]])
    """
    share = share.view(-1, *[1] * (images.ndim - 1)).to(images.dtype)
    return share * images + (1 - share) * images[partner]


def blended_loss(logits: Tensor, target: Tensor, share: Tensor, partner: Tensor) -> Tensor:
    """Return the cross-entropy to λ t_i + (1 − λ) t_j, one value per sample, `(B,)`.

    Args:
        logits: the logits of the blends, `(B, K)`.
        target: t, the target probabilities of the samples, `(B, K)`.
        share: λ, `(B,)`.
        partner: j, `(B,)`.
    """
    mixed = blend(target, share, partner)
    return -(mixed * logits.log_softmax(1)).sum(1)
