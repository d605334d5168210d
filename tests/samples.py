"""Features that tests share."""

from __future__ import annotations

import torch

from mentornet import MentorFeatures
from mentornet.randomness import generator


def some_features(
    count: int = 24, *, history: int = 10, dtype: torch.dtype = torch.float32, seed: int = 0
) -> MentorFeatures:
    """Random but plausible features of `count` samples."""
    draw = generator(seed)
    loss = torch.rand(count, history, generator=draw) * 6
    level = torch.rand(count, 1, generator=draw) * 3
    return MentorFeatures(
        loss.to(dtype),
        (loss - level).to(dtype),
        torch.randint(10, (count,), generator=draw),
        torch.randint(100, (count,), generator=draw),
    )
