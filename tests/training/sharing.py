"""The same small runs, made by one process or by several under torchrun.

    torchrun --nproc-per-node 2 -m tests.training.sharing FOLDER METHOD …

The student is smooth. A kink or a maximum would turn a rounding error of 1e-7, which the order of
sums makes, into another gradient now and then.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.config import TrainConfig
from mentornet.distributed import Processes
from mentornet.training import train
from tests.training.runs import small

SETTINGS: dict[str, tuple[str, ...]] = {
    "full-model": (),
    "goldberger": (),
    "mentornet-pd": ("burn_in=0.1",),
    "mentornet-dd": ("burn_in=0.1", "updates=0.2,0.6", "steps=20"),
    "spade": ("burn_in=0.1",),
    "mentornet": ("mentor=prediction-variance", "burn_in=0.1"),
    "mentornet-auto": ("burn_in=0.1",),
    "mentornet-early": (),
}
"""FullModel, a layer beside the student, PD, DD learned twice, explicit G, T = 10, auto, early."""


class Smooth(nn.Module):
    """Convolution, batch norm, tanh, mean: no kink anywhere."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.AvgPool2d(2)
        self.classify = nn.Linear(8 * 16, classes)

    def forward(self, images: Tensor) -> Tensor:
        return torch.as_tensor(
            self.classify(self.pool(torch.tanh(self.norm(self.conv(images)))).flatten(1))
        )


class Normless(Smooth):
    """Without batch norm, each image is treated for itself."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__(channels, classes)
        self.norm: nn.Module = nn.Identity()  # type: ignore[assignment]


def config(method: str, **changes: Any) -> TrainConfig:
    """100 steps; batches of 32 and 31, which two processes share unevenly."""
    return small(
        method,
        **{
            "student": "tests.training.sharing:Smooth", "width": None, "limit": 159, "epochs": 20,
            "learning_rate": 0.05, "set": SETTINGS[method],
            "clean_count": 60 if method == "mentornet-dd" else None, **changes,
        },
    )  # fmt: skip


def main(folder: str, *methods: str) -> None:
    torch.set_num_threads(1)
    Path(folder, f"pid-{os.environ.get('RANK', '0')}").write_text(f"{os.getpid()}")
    for method in methods:
        train(config(method), Path(folder) / method)
    Processes.here().leave()


if __name__ == "__main__":
    main(*sys.argv[1:])
