"""What users may rely on, listed, so that growth shows in a diff."""

from __future__ import annotations

from dataclasses import fields

import mentornet
from mentornet.cli.commands import COMMANDS
from mentornet.mentors import ARCHITECTURES

API = """
ARCHITECTURES CURRICULA Curriculum FitConfig FitRecord Mentor MentorFeatures MentorNetError
__version__ enumerate_features fit_curriculum fit_labels implied_loss make_curriculum make_mentor
"""

OPTIONS = {
    "fit-mentor": "curriculum out arch set objective features history num_classes use_label "
    "samples steps learning_rate goal patience seed overwrite",
    "mentors": "",
    "plot": "subject name out epochs percentile set",
    "reproduce": "what out repeats samples steps processes",
}

SETTINGS = {
    "uniform": {},
    "self-paced": {"lambda1": 0.0, "relative": True},
    "linear": {"lambda1": 1.0, "lambda2": 1.0, "relative": False},
    "pd": {"lambda1": 0.0, "lambda2": 1.0, "relative": True},
    "focal": {"gamma": 2.0},
    "hard-negative-mining": {"lambda1": 0.0, "relative": True},
    "prediction-variance": {"epsilon": 0.1},
    "temporal-mixture": {"switch": 50, "lambda1": 0.0, "relative": True},
    "huber": {"lambda1": 1.0},
    "log-sum": {"lambda1": 1.0, "epsilon": 1.0},
    "lorentzian": {"delta": 1.0},
}

SIZES = {
    "logistic": "history num_classes use_label",
    "mlp": "history num_classes use_label hidden",
    "cnn": "history num_classes use_label channels width",
    "batch-lstm": "history num_classes use_label units run",
    "bilstm": "history num_classes use_label units label_embedding epoch_embedding hidden",
}


def test_api() -> None:
    assert sorted(mentornet.__all__) == sorted(API.split())


def test_command_line() -> None:
    options = {
        name: " ".join(field.name for field in fields(command))  # type: ignore[arg-type]
        for name, command in COMMANDS.items()
    }
    assert options == OPTIONS


def test_curricula_and_their_defaults() -> None:
    defaults = {name: mentornet.make_curriculum(name).settings for name in mentornet.CURRICULA}
    assert defaults == SETTINGS


def test_architectures_and_their_sizes() -> None:
    sizes = {
        name: " ".join(field.name for field in fields(mentor.config_type))
        for name, mentor in ARCHITECTURES.items()
    }
    assert sizes == SIZES
