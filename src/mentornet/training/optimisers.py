"""The optimiser of a run: its groups of parameters, their learning rates and weight decay."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from mentornet.config import OptimiserConfig
from mentornet.methods import Supervision
from mentornet.students import BodyAndHead
from mentornet.weighting import add_weight_decay, shrink

__all__ = ["decayed_parameters", "follow_weights", "make_optimiser", "set_learning_rate"]

_FACTOR, _DECAYED = "rate_factor", "decayed"  # our own keys of a group


def decayed_parameters(settings: OptimiserConfig, student: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that weight decay shrinks.

    With `decayed = "weights"` these are the parameters with two or more dimensions: the weights of
    convolutions and linear layers, without biases and without the scales and shifts of batch norm.
    """
    least = 2 if settings.decayed == "weights" else 0
    return [part for part in student.parameters() if part.requires_grad and part.ndim >= least]


def make_optimiser(
    settings: OptimiserConfig, student: nn.Module, supervision: Supervision
) -> torch.optim.Optimizer:
    """Return the optimiser for the parameters of the student and of the supervision.

    If weight decay follows the weights of the method, `follow_weights` adds it in each step, and
    the decay of the optimiser is 0.
    """
    assert settings.weight_decay is not None
    assert settings.learning_rate is not None
    assert settings.momentum is not None
    decayed = set(decayed_parameters(settings, student))
    rate = 0.0 if supervision.weighs else settings.weight_decay
    groups: list[dict[str, Any]] = []
    for parameters, factor in _parts(student, settings.head_rate):
        trained = [part for part in parameters if part.requires_grad]
        ours = [part for part in trained if part in decayed]
        rest = [part for part in trained if part not in decayed]
        groups += [_group(ours, rate, factor, decayed=True), _group(rest, 0.0, factor)]
    groups.append(_group(list(supervision.parameters()), 0.0, 1.0))
    groups = [group for group in groups if group["params"]]
    if not groups:  # all is frozen, and an optimiser needs something
        groups = [_group([nn.Parameter(torch.zeros(()))], 0.0, 1.0)]
    if settings.optimiser == "adamw":
        return torch.optim.AdamW(groups, lr=settings.learning_rate)
    return torch.optim.SGD(
        groups, lr=settings.learning_rate, momentum=settings.momentum,
        nesterov=bool(settings.nesterov),
    )  # fmt: skip


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of the next step; the head of a pretrained student has its own."""
    for group in optimiser.param_groups:
        group["lr"] = rate * group[_FACTOR]


def follow_weights(optimiser: torch.optim.Optimizer, rate: float, weights: Tensor) -> None:
    """Decay by θ₀ · mean(v), as the optimiser would: θ₀ is `rate`, v the weights of the batch."""
    mean = weights.mean()
    for group in optimiser.param_groups:
        if group[_DECAYED] and "betas" in group:  # AdamW: its decay is no part of the gradient
            shrink(group["params"], mean * (rate * group["lr"]))
        elif group[_DECAYED]:
            add_weight_decay(group["params"], rate, mean)


def _parts(student: nn.Module, head_rate: float | None) -> list[tuple[list[nn.Parameter], float]]:
    """Return the parameters with the factors of their learning rates."""
    if head_rate is None:
        return [(list(student.parameters()), 1.0)]
    heads = [part.head for part in student.modules() if isinstance(part, BodyAndHead)]
    head = [part for module in heads for part in module.parameters()]
    inside = set(head)
    body = [part for part in student.parameters() if part not in inside]
    return [(body, 1.0), (head, head_rate)]


def _group(
    parameters: list[nn.Parameter], decay: float, factor: float, *, decayed: bool = False
) -> dict[str, Any]:
    return {"params": parameters, "weight_decay": decay, _FACTOR: factor, _DECAYED: decayed}
