"""Full precision, whatever the loop around asks for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

__all__ = ["HALF", "full_precision"]

HALF = (torch.float16, torch.bfloat16)


def full_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Without autocast, on a device that has it.

    Autocast also keeps copies of weights for as long as it lasts, so that who changes them in
    between, as an optimiser does, would go on seeing the old ones.
    """
    if torch.compiler.is_compiling() or torch.amp.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()
