"""MentorNet learns which labels to trust while you train.

>>> import torch, mentornet
>>> mentor = mentornet.Mentor.from_pretrained("pd")
>>> losses = torch.tensor([0.2, 1.5, 6.0])
>>> mentor.weigh(mentornet.MentorFeatures.from_loss(losses, loss_level=1.0)).round(decimals=2)
tensor([1.0000, 0.5000, 0.0000])
"""

from mentornet.curricula import CURRICULA, Curriculum, implied_loss, make_curriculum
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures
from mentornet.mentors import (
    ARCHITECTURES,
    FitConfig,
    FitRecord,
    Mentor,
    MentorSeries,
    enumerate_features,
    fit_curriculum,
    fit_labels,
    make_mentor,
)
from mentornet.version import __version__
from mentornet.weighting import MentorLoss, NoiseEstimate, WeightDecay, scale_weight_decay

__all__ = [
    "ARCHITECTURES",
    "CURRICULA",
    "Curriculum",
    "FitConfig",
    "FitRecord",
    "Mentor",
    "MentorFeatures",
    "MentorLoss",
    "MentorNetError",
    "MentorSeries",
    "NoiseEstimate",
    "WeightDecay",
    "__version__",
    "enumerate_features",
    "fit_curriculum",
    "fit_labels",
    "implied_loss",
    "make_curriculum",
    "make_mentor",
    "scale_weight_decay",
]
