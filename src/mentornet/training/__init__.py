"""The trainer, its checkpoints and the folder of a run."""

from __future__ import annotations

from mentornet.training.diverged import DivergedError
from mentornet.training.observer import Observer, StepMetrics
from mentornet.training.prediction import load_student, predict
from mentornet.training.preparation import Prepared, prepare, preview
from mentornet.training.run import train
from mentornet.training.run_folder import RunFolder
from mentornet.training.trainer import Trainer

__all__ = [
    "DivergedError",
    "Observer",
    "Prepared",
    "RunFolder",
    "StepMetrics",
    "Trainer",
    "load_student",
    "predict",
    "prepare",
    "preview",
    "train",
]
