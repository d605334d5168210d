"""Full precision inside of autocast."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

__all__ = ["HALF", "full_precision"]

HALF = (torch.float16, torch.bfloat16)


def full_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context that switches autocast off, if the device has it.

    Autocast also caches casts of parameters. Without this, a mentor that an optimiser changes
    within it would go on using the old values.
    """
    if torch.compiler.is_compiling() or torch.amp.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()
