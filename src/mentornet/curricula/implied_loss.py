"""ρ(ℓ) = ∫₀^ℓ v(x) dx: the robust loss that a student minimises under the weights v."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures

__all__ = ["implied_loss"]


def implied_loss(
    weigh: Callable[[MentorFeatures], Tensor], features: MentorFeatures, *, points: int = 1000
) -> Tensor:
    """Return the loss that the weights v imply (Eq. 10 and Prop. 1), by the midpoint rule.

    ρ(ℓ) = ∫₀^ℓ v(x) dx ≈ (ℓ/n) Σₖ v((k + ½) ℓ/n)

    Here x replaces the current loss, and the difference changes with it; ℓ_pt, the label, the
    progress and the earlier steps of the history stay fixed.

    Args:
        weigh: the function v: the `weight` of a curriculum, or a mentor.
        features: z, whose current loss is the upper limit ℓ.
        points: n ≥ 1, the number of points. A jump of v is located to within ℓ/n.

    Returns:
        ρ of every sample, `(B,)`, in the dtype of the loss.

    >>> z = MentorFeatures.from_loss(torch.tensor([1.0, 4.0]))
    >>> implied_loss(lambda z: 1 / (1 + z.current_loss), z)  # log(1 + ℓ)
    tensor([0.6931, 1.6094])
    """
    if points < 1:
        raise MentorNetError(f"points must be ≥ 1, got {points}")
    loss = features.current_loss
    middles = (torch.arange(points, device=loss.device, dtype=torch.float64) + 0.5) / points
    samples = loss[:, None] * middles.to(loss.dtype)
    weights = weigh(features.repeat(points).at_loss(samples.flatten()))
    mean = weights.view(-1, points).mean(
        dim=1, dtype=torch.promote_types(loss.dtype, torch.float32)
    )
    return (loss * mean).to(loss.dtype)
