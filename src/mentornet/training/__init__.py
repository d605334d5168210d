"""The only trainer, its checkpoints and the folder of a run."""

from __future__ import annotations

from mentornet.training.preparation import Prepared, prepare
from mentornet.training.run import train
from mentornet.training.run_folder import RunFolder
from mentornet.training.trainer import Observer, StepFigures, Trainer, DivergedError

__all__ = [
    "Observer",
    "Prepared",
    "RunFolder",
    "StepFigures",
    "Trainer",
    "DivergedError",
    "prepare",
    "train",
]
