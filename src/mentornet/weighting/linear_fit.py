"""Multinomial logistic regression on features, fitted whole: quick, and without random draws.

Shapes: N samples, D features, K classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["LinearFit", "fit_linear", "standardised"]

_STEPS = 60  # of L-BFGS


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear classifier.

    Attributes:
        weight: W, `(D, K)`.
        bias: b, `(K,)`.
    """

    weight: Tensor
    bias: Tensor

    def probabilities(self, features: Tensor) -> Tensor:
        """Return softmax(x W + b), `(N, K)`, of features x, `(N, D)`."""
        return (features @ self.weight + self.bias).softmax(1)


def fit_linear(
    features: Tensor, target: Tensor, decay: float, *, start: LinearFit | None = None
) -> LinearFit:
    """Return the W and b that minimise −(1/N) Σ_i Σ_k t_ik log p_ik + ½ λ ‖W‖².

    Args:
        features: x, `(N, D)`.
        target: t, `(N, K)`, ≥ 0. A row that sums to less than 1 is a sample of less weight.
        decay: λ > 0.
        start: where to begin; at 0 by default.

    >>> x = torch.tensor([[-1.0], [1.0]])
    >>> fit_linear(x, torch.eye(2), 0.1).probabilities(x).argmax(1)
    tensor([0, 1])
    """
    width, classes = features.shape[1], target.shape[1]
    first = start or LinearFit(features.new_zeros(width, classes), features.new_zeros(classes))
    weight = first.weight.clone().requires_grad_()
    bias = first.bias.clone().requires_grad_()
    solver = torch.optim.LBFGS([weight, bias], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def objective() -> Tensor:
        solver.zero_grad()
        log_p = (features @ weight + bias).log_softmax(1)
        value = -(target * log_p).sum() / len(target) + decay / 2 * weight.square().sum()
        value.backward()
        return value

    with torch.enable_grad():
        solver.step(objective)
    return LinearFit(weight.detach(), bias.detach())


def standardised(features: Tensor) -> Tensor:
    """Return float32 features with mean 0 and variance 1; constant ones become 0."""
    x = features.float()
    deviation = x.std(0, correction=0)
    floor = 1e-3 * deviation.mean() + 1e-12
    return (x - x.mean(0)) / deviation.clamp(min=floor)
