"""Mentors: the MentorNet, the networks that it is compared with, and how they are fitted."""

from __future__ import annotations

from mentornet.mentors.architectures import ARCHITECTURES, make_mentor
from mentornet.mentors.batch_lstm import BatchLSTMConfig, BatchLSTMMentor
from mentornet.mentors.bilstm import BiLSTMConfig, BiLSTMMentor
from mentornet.mentors.cards import Card, LearnedCard, read_card
from mentornet.mentors.cnn import CNNConfig, CNNMentor
from mentornet.mentors.fitting import (
    FitConfig,
    FitRecord,
    Lesson,
    error_of,
    fit,
    fit_curriculum,
)
from mentornet.mentors.grid import FEATURES, dense_features, enumerate_features
from mentornet.mentors.label_fit import fit_labels
from mentornet.mentors.logistic import LogisticMentor
from mentornet.mentors.mentor import Mentor, MentorConfig
from mentornet.mentors.mlp import MLPConfig, MLPMentor
from mentornet.mentors.objectives import binary, explicit, implicit
from mentornet.mentors.sampling import sample_weights
from mentornet.mentors.series import MentorSeries, load_rule
from mentornet.mentors.store import load_mentor, save_mentor, shipped

__all__ = [
    "ARCHITECTURES",
    "FEATURES",
    "BatchLSTMConfig",
    "BatchLSTMMentor",
    "BiLSTMConfig",
    "BiLSTMMentor",
    "CNNConfig",
    "CNNMentor",
    "Card",
    "FitConfig",
    "FitRecord",
    "LearnedCard",
    "Lesson",
    "LogisticMentor",
    "MLPConfig",
    "MLPMentor",
    "Mentor",
    "MentorConfig",
    "MentorSeries",
    "binary",
    "dense_features",
    "enumerate_features",
    "error_of",
    "explicit",
    "fit",
    "fit_curriculum",
    "fit_labels",
    "implicit",
    "load_mentor",
    "load_rule",
    "make_mentor",
    "read_card",
    "sample_weights",
    "save_mentor",
    "shipped",
]
