"""Batch norm over the whole batch of all processes, on any device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.autograd.function import once_differentiable

__all__ = ["SyncedBatchNorm2d", "synced"]


class _Normed(torch.autograd.Function):
    """γ (x − μ)/σ + β with μ and σ over the images of all processes, by torch's own kernels.

    With s = Σ ∂y and t = Σ ∂y x̂ over the N values of a channel on all processes, where
    x̂ = (x − μ)/σ, the gradient is ∂x = γ/σ (∂y − s/N − x̂ t/N).
    """

    @staticmethod
    def forward(
        ctx: Any, images: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        own = torch.ops.aten.batch_norm_update_stats(images, None, None, 0.0)
        mean, variance = (part.double() for part in own)
        count = torch.full_like(mean, images.numel() // images.shape[1])
        whole = torch.stack([count * mean, count * (variance + mean.square()), count])
        dist.all_reduce(whole)
        seen = whole[2]
        mean = whole[0] / seen
        variance = (whole[1] / seen - mean.square()).clamp(min=0)
        plain, spread = mean.to(images.dtype), variance.to(images.dtype)
        normed, _, _ = torch.native_batch_norm(images, weight, bias, plain, spread, False, 0.0, eps)
        ctx.eps = eps
        ctx.save_for_backward(images, weight, plain, (variance + eps).rsqrt(), seen)
        ctx.mark_non_differentiable(mean, variance, seen)
        return normed, mean, variance, seen

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> Any:
        images, weight, mean, scale, seen = ctx.saved_tensors
        dtype = images.dtype
        _, by_weight, by_bias = torch.ops.aten.native_batch_norm_backward(
            gradient, images, weight, None, None, mean, scale.to(dtype), True, ctx.eps,
            [False, True, True],
        )  # fmt: skip
        whole = torch.stack([by_weight, by_bias]).double()
        dist.all_reduce(whole)
        slope = scale if weight is None else scale * weight
        of_image = -slope * scale * whole[0] / seen
        fixed = -slope * whole[1] / seen - of_image * mean
        a, b, c = (part.to(dtype)[:, None, None] for part in (slope, of_image, fixed))
        by_images = torch.addcmul(c, images, b).addcmul_(gradient, a)
        if weight is None:
            return by_images, None, None, None
        return by_images, by_weight, by_bias, None


class SyncedBatchNorm2d(nn.BatchNorm2d):
    """Batch norm whose mean and variance in training are over the images of all processes.

    Each layer takes one exchange forward and one backward. (`nn.SyncBatchNorm` needs a GPU.)
    """

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            return super().forward(images)
        precise = images if images.dtype == torch.float64 else images.float()
        normed, mean, variance, seen = _Normed.apply(precise, self.weight, self.bias, self.eps)
        self._remember(mean, variance, seen)
        return normed.to(images.dtype)

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor, seen: Tensor) -> None:
        if self.running_mean is None or self.running_var is None:
            return
        unbiased = variance * seen / (seen - 1).clamp(min=1)
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        rate = 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), rate)
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), rate)


def synced(student: nn.Module) -> nn.Module:
    """Replace the 2-d batch norms of the student by synced ones, and return the student."""
    for name, child in list(student.named_children()):
        if type(child) is nn.BatchNorm2d:
            norm = SyncedBatchNorm2d(
                child.num_features, child.eps, child.momentum, child.affine,
                child.track_running_stats,
            )  # fmt: skip
            norm.load_state_dict(child.state_dict())
            setattr(student, name, norm.train(child.training))
        else:
            synced(child)
    return student
