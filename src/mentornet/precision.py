"""Full precision, inside of autocast and in modules that are moved to half of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

__all__ = ["HALF", "NeverHalved", "full_precision"]

Moved = TypeVar("Moved", bound=nn.Module)
HALF = (torch.float16, torch.bfloat16)


def full_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context that switches autocast off, if the device has it.

    Autocast also caches casts of parameters. Without this, a mentor that an optimiser changes
    within it would go on using the old values.
    """
    if torch.compiler.is_compiling() or torch.amp.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


class NeverHalved(nn.Module):
    """A module that moves to any device, but keeps at least float32."""

    def _apply(self: Moved, fn: Any, recurse: bool = True) -> Moved:
        def moved(part: Tensor) -> Tensor:
            result: Tensor = fn(part)
            return part.to(result.device) if result.dtype in HALF else result

        nn.Module._apply(self, moved, recurse)
        return self
