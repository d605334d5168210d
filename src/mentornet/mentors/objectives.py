"""The objectives of a fit, one value per sample; the fit takes their mean.

Every objective is a function of the mentor's logits `(B,)`, the targets `(B,)` and the
features, with g = σ(logit).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mentornet.curricula import Curriculum
from mentornet.features import MentorFeatures

__all__ = ["Objective", "binary", "explicit", "implicit"]

Objective = Callable[[Tensor, Tensor, MentorFeatures], Tensor]


def implicit(logit: Tensor, target: Tensor, features: MentorFeatures) -> Tensor:  # noqa: ARG001
    """(g − v*)²: regression on the weights of a predefined curriculum (App. D).

    >>> z = MentorFeatures.from_loss(torch.tensor([1.0]))
    >>> implicit(torch.tensor([0.0]), torch.tensor([1.0]), z)
    tensor([0.2500])
    """
    return (logit.sigmoid() - target) ** 2


def explicit(curriculum: Curriculum) -> Objective:
    """Return the objective g·ℓ + G(g; λ) of a curriculum whose G is known (Eq. 4).

    It does not read the target. Its minimiser is v*, if there is only one.

    >>> from mentornet.curricula import SelfPaced
    >>> z = MentorFeatures.from_loss(torch.tensor([3.0]), loss_level=1.0)
    >>> explicit(SelfPaced())(torch.tensor([0.0]), torch.tensor([0.0]), z)  # ½·3 − 1·½
    tensor([1.])
    """
    zero = torch.zeros(1)
    curriculum.penalty(zero, MentorFeatures.from_loss(zero))  # raises at once if there is no G

    def objective(logit: Tensor, target: Tensor, features: MentorFeatures) -> Tensor:  # noqa: ARG001
        weight = logit.sigmoid()
        return weight * features.current_loss + curriculum.penalty(weight, features)

    return objective


def binary(logit: Tensor, target: Tensor, features: MentorFeatures) -> Tensor:  # noqa: ARG001
    """−v* log g − (1 − v*) log(1 − g): cross-entropy, for a data-driven curriculum (§3.1).

    Here v* is 1 if the given label of the sample is correct, else 0.

    >>> z = MentorFeatures.from_loss(torch.tensor([1.0]))
    >>> binary(torch.tensor([0.0]), torch.tensor([1.0]), z)
    tensor([0.6931])
    """
    return torch.nn.functional.binary_cross_entropy_with_logits(logit, target, reduction="none")
