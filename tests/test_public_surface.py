"""What users may rely on, listed, so that growth shows in a diff."""

from __future__ import annotations

from dataclasses import fields
from typing import get_type_hints

import mentornet
from mentornet.cli.commands import COMMANDS
from mentornet.config import TrainConfig
from mentornet.mentors import ARCHITECTURES
from mentornet.methods import METHODS, make_method

API = """
ARCHITECTURES CURRICULA Curriculum FitConfig FitRecord Mentor MentorFeatures MentorLoss
MentorNetError NoiseEstimate WeightDecay __version__ enumerate_features fit_curriculum fit_labels
implied_loss make_curriculum make_mentor scale_weight_decay
"""

OPTIONS = {
    "train": "data out resume config seed labels method student optimiser files machine",
    "predict": "run_folder images out best skip_bad",
    "audit": "run_folder out relabel noise_rate overwrite",
    "shards": "source out folder imagenet per_shard skip_bad",
    "demo": "out seeds processes",
    "fit-mentor": "curriculum out arch set objective features history num_classes use_label "
    "samples steps learning_rate goal patience seed overwrite",
    "learn-mentor": "run_folder out steps learning_rate seed overwrite",
    "mentors": "",
    "plot": "subject name out epochs percentile set",
    "reproduce": "what scale out seeds only list dry_run jobs engine address precision",
    "compare": "folder table seeds",
}

TRAIN = {
    "files": "folder mirror image_size stream imagenet skip_bad limit validation",
    "labels": "noise verdicts clean_count",
    "student": "student width depth dropout",
    "method": "method set",
    "optimiser": "epochs steps batch_size learning_rate schedule warm_up drops momentum nesterov "
    "weight_decay augment padding accumulate evaluate_every",
    "machine": "accelerator precision channels_last compile workers checkpoint_seconds tensorboard",
}

_PACE: dict[str, object] = {
    "percentile": 0.75, "decay": 0.95, "burn_in": 0.2, "burn_in_drop": 0.5, "drop": 0.0,
    "half_history": False, "smoothing": 0.0, "sharpness": 0.0, "decided_by": 1.0,
}  # fmt: skip
_DD = {
    "burn_in": 0.1, "burn_in_drop": 0.0, "smoothing": 0.8, "teaches_verified": True, "history": 1,
    "reads_label": False, "steps": 600, "learning_rate": 0.03, "mentor": "", "mentor_classes": 0,
}  # fmt: skip

METHOD_SETTINGS: dict[str, dict[str, object]] = {
    "full-model": {},
    "forgetting": {"dropout": 0.5},
    "self-paced": {"percentile": 0.75, "decay": 0.95, "growth": 0.2, "burn_in": 0.1},
    "focal": {"gamma": 2.0},
    "reed-soft": {"beta": 0.95},
    "reed-hard": {"beta": 0.8},
    "goldberger": {"rate": 0.1},
    "spade": {**_PACE, "curriculum": "pd", "step": 10.0},
    "mentornet": {**_PACE, "mentor": "pd", "reads_label": True},
    "mentornet-pd": {**_PACE, "lambda1": 0.0, "lambda2": 1.0},
    "mentornet-auto": {"burn_in": 0.2, "by_class": False},
    "mentornet-dd": {
        **_PACE, **_DD, "updates": tuple(percent / 100 for percent in range(12, 97, 5)),
        "sharpness": 6.0, "decided_by": 0.3,
    },
    "mentor-bootstrap": {
        **_PACE, **_DD, "updates": tuple(percent / 100 for percent in range(12, 97, 7)),
        "belief": 0.7, "mixup": 0.0,
    },
    "gce": {"q": 0.7},
    "sce": {"alpha": 0.1, "beta": 1.0, "log_zero": -9.21},
    "elr": {"strength": 3.0, "decay": 0.7},
    "co-teaching": {"forget": 0.4, "rise": 0.1},
    "mentormix": {
        **_PACE, "percentile": 0.7, "burn_in": 0.1, "burn_in_drop": 0.0, "alpha": 2.0,
        "temperature": 1.0, "reweigh": True,
    },
    "verified": {"others": 1.0},
    "oracle": {},
}  # fmt: skip

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


def test_training_options() -> None:
    groups = get_type_hints(TrainConfig)
    options = {name: " ".join(field.name for field in fields(groups[name])) for name in TRAIN}
    assert options == TRAIN
    assert groups.keys() == {"data", "seed", *TRAIN}


def test_methods_and_their_defaults() -> None:
    assert {name: make_method(name).settings for name in METHODS} == METHOD_SETTINGS


def test_curricula_and_their_defaults() -> None:
    defaults = {name: mentornet.make_curriculum(name).settings for name in mentornet.CURRICULA}
    assert defaults == SETTINGS


def test_architectures_and_their_sizes() -> None:
    sizes = {
        name: " ".join(field.name for field in fields(mentor.config_type))
        for name, mentor in ARCHITECTURES.items()
    }
    assert sizes == SIZES
