"""θ_t = θ₀ · mean(v): weight decay that follows the weights of the batch (App. E)."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

__all__ = ["add_weight_decay"]


@torch.no_grad()
def add_weight_decay(parameters: Iterable[nn.Parameter], rate: float, weights: Tensor) -> None:
    """Add θ₀ · mean(v) · w to the gradient of every parameter w.

    A batch that is left out whole then moves the student not at all. The rate is a tensor that
    no step has to wait for.

    Args:
        parameters: of the student, after the backward pass; the optimiser's own decay is 0.
        rate: θ₀.
        weights: v of the batch, `(B,)`.

    >>> w = nn.Parameter(torch.tensor([2.0]))
    >>> w.grad = torch.tensor([1.0])
    >>> add_weight_decay([w], 0.5, torch.tensor([1.0, 0.0]))  # 1 + 0.5 · 0.5 · 2
    >>> w.grad
    tensor([1.5000])
    """
    scaled = weights.mean() * rate
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.addcmul_(parameter, scaled.to(parameter.dtype))
