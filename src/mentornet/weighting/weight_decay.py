"""θ_t = θ₀ · mean(v): weight decay that follows the weights of the batch (App. E)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError

if TYPE_CHECKING:
    from mentornet.weighting.criterion import Criterion

__all__ = [
    "TALLY",
    "WeightDecay",
    "add_weight_decay",
    "mean_weight",
    "scale_weight_decay",
    "shrink",
]

TALLY = 2**30
"""A criterion sums mean(v) in whole units of 1/TALLY, so that the sum is exact."""

_MARK = "_mentornet_scales_decay"

_ADDED = ("SGD", "Adam", "Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop")
"""Optimisers of torch that add θ₀ w to the gradient, unless their decay is decoupled."""

_APART = ("AdamW",)
"""Optimisers with decoupled decay, which multiply w by 1 − α θ₀."""


@torch.no_grad()
def add_weight_decay(parameters: Iterable[nn.Parameter], rate: float, weights: Tensor) -> None:
    """Add θ₀ · mean(v) · w to the gradient of every parameter w.

    If all weights of a batch are 0, the student thus does not change. Nothing here synchronises
    with the device.

    Args:
        parameters: the student's parameters, after the backward pass; the optimiser's decay is 0.
        rate: θ₀.
        weights: the weights v of the batch, `(B,)`.

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


def scale_weight_decay(optimizer: torch.optim.Optimizer, criterion: Criterion) -> WeightDecay:
    """Let the weight decay of `optimizer` follow the weights of `criterion` from now on.

    Every `step` then decays by θ₀ · mean(v), over all weights since the step before; this includes
    gradient accumulation. The `weight_decay` in the groups of the optimiser, which schedulers and
    checkpoints read, stays θ₀. Torch's own optimisers do not synchronise with the device for this;
    others do, because they need a plain number.

    >>> import mentornet
    >>> model = nn.Linear(4, 2)
    >>> optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    >>> criterion = mentornet.MentorLoss(total_steps=100)
    >>> following = mentornet.scale_weight_decay(optimizer, criterion)
    >>> following.remove()  # undo it
    """
    return WeightDecay(optimizer, criterion)


class WeightDecay:
    """The hooks of `scale_weight_decay`, before and after each step of the optimiser."""

    def __init__(self, optimizer: torch.optim.Optimizer, criterion: Criterion) -> None:
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise MentorNetError(
                f"scale_weight_decay takes a torch optimizer, got {type(optimizer).__name__}"
            )
        if not any("weight_decay" in group for group in optimizer.param_groups):
            raise MentorNetError(f"{type(optimizer).__name__} has no weight_decay to scale")
        if getattr(optimizer, _MARK, False):
            raise MentorNetError("the weight decay of this optimizer is scaled already")
        setattr(optimizer, _MARK, True)
        self.optimizer, self.criterion = optimizer, criterion
        self._seen = criterion.account.tally
        self._rates: list[Any] | None = None  # θ₀ of each group, during a step
        self._handles = [
            optimizer.register_step_pre_hook(self._before),
            optimizer.register_step_post_hook(self._after),
        ]

    def remove(self) -> None:
        """Remove the hooks; the optimiser is as before."""
        self._restore()
        setattr(self.optimizer, _MARK, False)
        for handle in self._handles:
            handle.remove()

    def mean_weight(self) -> Tensor:
        """Return the mean of v since the last call, a scalar; 1 if there were no weights."""
        before, self._seen = self._seen, self.criterion.account.tally
        return mean_weight(before, self._seen)

    def _before(
        self, optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        self._restore()  # in case the last step failed
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is None:
            self._apply(optimizer)
            return None

        def then_apply() -> Any:  # the closure computes the gradients
            self._restore()
            loss = closure()
            self._apply(optimizer)
            return loss

        if len(args) > 1:
            return (args[0], then_apply, *args[2:]), kwargs
        return args, {**kwargs, "closure": then_apply}

    def _apply(self, optimizer: torch.optim.Optimizer) -> None:
        if self._rates is not None:  # a step within a step: applied already
            return
        mean = self.mean_weight()
        self._rates = [group.get("weight_decay") for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, self._rates, strict=True):
            if not rate:
                continue
            if _decays_apart(optimizer, group):
                shrink(group["params"], mean * rate * group["lr"])
                group["weight_decay"] = 0.0
            elif _adds_decay(optimizer):
                sign = -1.0 if group.get("maximize") else 1.0
                add_weight_decay(group["params"], sign * rate, mean)
                group["weight_decay"] = 0.0
            else:
                group["weight_decay"] = rate * mean.item()

    def _after(self, *_: Any) -> None:
        self._restore()

    def _restore(self) -> None:
        """Set `weight_decay` of all groups to θ₀ again."""
        if self._rates is not None:
            for group, rate in zip(self.optimizer.param_groups, self._rates, strict=False):
                if rate is not None:
                    group["weight_decay"] = rate
        self._rates = None


def mean_weight(before: Tensor, now: Tensor) -> Tensor:
    """Return the mean of v between two tallies of a criterion, a scalar; 1 without weights.

    >>> mean_weight(torch.tensor([0, 0]), torch.tensor([TALLY, 2]))  # 1 and 0
    tensor(0.5000)
    """
    total, calls = now - before.to(now.device)
    return torch.where(calls > 0, total / TALLY / calls.clamp(min=1), 1.0).float()


def _known(optimizer: torch.optim.Optimizer, names: tuple[str, ...]) -> bool:
    """Return whether this is one of these optimisers of torch and no grad scaler is in use."""
    ours = (
        type(optimizer).__module__.startswith("torch.optim") and type(optimizer).__name__ in names
    )
    scaled = any(getattr(optimizer, name, None) is not None for name in ("grad_scale", "found_inf"))
    return ours and not scaled


def _decays_apart(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> bool:
    decoupled = bool(group.get("decoupled_weight_decay")) and _known(optimizer, _ADDED)
    return decoupled or _known(optimizer, _APART)


def _adds_decay(optimizer: torch.optim.Optimizer) -> bool:
    return _known(optimizer, _ADDED)


@torch.no_grad()
def shrink(parameters: Iterable[nn.Parameter], by: Tensor) -> None:
    """Multiply every parameter that has a gradient by 1 − `by`, as decoupled weight decay does.

    >>> w = nn.Parameter(torch.tensor([2.0]))
    >>> w.grad = torch.tensor([1.0])
    >>> shrink([w], torch.tensor(0.25))
    >>> w.item()
    1.5
    """
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.mul_(1 - by.to(parameter.dtype))
