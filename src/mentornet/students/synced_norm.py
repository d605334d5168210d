"""Batch norm over the whole batch of several processes, on any device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist

__all__ = ["SyncedBatchNorm2d", "synced"]


class _Sum(torch.autograd.Function):
    """The sum over all ranks; so is its gradient."""

    @staticmethod
    def forward(_: Any, numbers: Tensor) -> Tensor:
        total = numbers.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone()
        dist.all_reduce(total)
        return total


class SyncedBatchNorm2d(nn.BatchNorm2d):
    """Batch norm whose mean and variance in training are those of all ranks' images.

    (Torch's own `SyncBatchNorm` is for GPUs only.) Sums are in float64, one exchange a layer.
    """

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            return super().forward(images)
        count = images.numel() // images.shape[1]
        precise = images.double()
        sums = torch.stack([precise.sum((0, 2, 3)), precise.square().sum((0, 2, 3))])
        counted = torch.cat([sums, torch.full_like(sums[:1], count)])
        whole = _Sum.apply(counted)
        seen = whole[2]
        mean = whole[0] / seen
        variance = (whole[1] / seen - mean.square()).clamp(min=0)
        self._remember(mean.detach(), variance.detach(), seen.detach())
        scale = (variance + self.eps).rsqrt().to(images.dtype)
        shift = mean.to(images.dtype)
        normed = (images - shift[:, None, None]) * scale[:, None, None]
        if self.affine:
            normed = normed * self.weight[:, None, None] + self.bias[:, None, None]
        return normed

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
    """The student with its 2-d batch norms over the batches of all ranks."""
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
