"""What one step of training sees."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True, eq=False)
class Batch:
    """One step's samples: which they are `(B,)`, their images `(B, C, H, W)`, given labels."""

    index: Tensor
    images: Tensor
    given_label: Tensor
