"""The probabilistic sampling layer: burn-in and random dropping of samples (§3.1, Fig. 1)."""

from __future__ import annotations

import torch
from torch import Tensor

from mentornet.errors import MentorNetError

__all__ = ["sample_weights"]


def sample_weights(
    weight: Tensor, draws: Tensor, *, drop_rate: float | Tensor, burn_in: bool | Tensor = False
) -> Tensor:
    """Drop samples at random: v ← r in burn-in, v ← r·v after it, r = 1(u ≥ p) ~ Bernoulli(1 − p).

    The random draws are an argument, so this is a pure function that compiles. `burn_in` and
    `drop_rate` may be tensors, so that no step has to synchronise with the device.

    Args:
        weight: v from the mentor's last fully connected layer, `(B,)`.
        draws: u, uniform numbers in [0, 1), `(B,)`.
        drop_rate: p in [0, 1], the share of samples that is dropped.
        burn_in: whether burn-in is not over yet; samples that are not dropped then have weight 1.

    >>> v, u = torch.tensor([0.5, 0.5, 0.5]), torch.tensor([0.1, 0.4, 0.9])
    >>> sample_weights(v, u, drop_rate=0.3)
    tensor([0.0000, 0.5000, 0.5000])
    >>> sample_weights(v, u, drop_rate=0.3, burn_in=True)
    tensor([0., 1., 1.])
    """
    if draws.shape != weight.shape:
        raise MentorNetError(
            f"draws must have the shape of the weights {tuple(weight.shape)}, "
            f"got {tuple(draws.shape)}"
        )
    if not isinstance(drop_rate, Tensor) and not 0 <= drop_rate <= 1:
        raise MentorNetError(f"drop_rate must be in [0, 1], got {drop_rate:g}")
    kept = (draws >= drop_rate).to(weight.dtype)
    starting = torch.as_tensor(burn_in, device=weight.device)
    return torch.where(starting, kept, kept * weight)
