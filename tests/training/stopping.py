"""A run that is stopped after an epoch, or gone on with; by one process or by several.

torchrun --nproc-per-node 2 -m tests.training.stopping FOLDER METHOD EPOCH
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mentornet.distributed import Processes
from mentornet.training import Observer, train
from tests.training.sharing import config


class StoppedError(Exception):
    pass


class StopsAfter(Observer):
    def __init__(self, epoch: int) -> None:
        self.last = epoch
        self.notes: list[str] = []

    def epoch(self, row: Mapping[str, Any]) -> None:
        if row["epoch"] == self.last:
            raise StoppedError

    def note(self, text: str) -> None:
        self.notes.append(text)


def main(folder: str, method: str, epoch: str) -> None:
    torch.set_num_threads(1)
    begun = Path(folder, "config.toml").exists()
    train(config(method), folder, resume=begun, observer=StopsAfter(int(epoch)))
    Processes.here().leave()


if __name__ == "__main__":
    main(*sys.argv[1:])
