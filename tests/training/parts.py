"""A run whose batches several processes share, each working through its share in two parts.

torchrun --nproc-per-node 2 -m tests.training.parts FOLDER
"""

from __future__ import annotations

import sys

import torch

from mentornet.distributed import Processes
from mentornet.training import train
from tests.training.sharing import config

if __name__ == "__main__":
    torch.set_num_threads(1)
    settings = config("mentornet-pd", student="tests.training.sharing:Normless", accumulate=2)
    train(settings, sys.argv[1])
    Processes.here().leave()
