"""From a batch's losses to its weights: features, moving percentile, history, SPADE."""

from __future__ import annotations

from mentornet.criterion.class_percentile import ClassPercentile
from mentornet.criterion.data_driven import DataDriven, Outcome, Verified
from mentornet.criterion.history import LossHistory
from mentornet.criterion.mentor_loss import MentorLoss
from mentornet.criterion.noise_rate import NoiseEstimate, NoiseRate
from mentornet.criterion.percentile import PercentileEMA
from mentornet.criterion.relearning import Relearning, check_updates
from mentornet.criterion.spade import Spade, SpadeConfig, apply_rule, history_of, weighted_mean
from mentornet.criterion.weight_decay import WeightDecay, add_weight_decay, scale_weight_decay

__all__ = [
    "ClassPercentile",
    "DataDriven",
    "LossHistory",
    "MentorLoss",
    "NoiseEstimate",
    "NoiseRate",
    "Outcome",
    "PercentileEMA",
    "Relearning",
    "Spade",
    "SpadeConfig",
    "Verified",
    "WeightDecay",
    "add_weight_decay",
    "apply_rule",
    "check_updates",
    "history_of",
    "scale_weight_decay",
    "weighted_mean",
]
