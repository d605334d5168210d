"""From a batch's losses to its weights: features, moving percentile, history, SPADE."""

from __future__ import annotations

from mentornet.weighting.class_percentile import ClassPercentile
from mentornet.weighting.data_driven import DataDriven, Outcome
from mentornet.weighting.history import LossHistory
from mentornet.weighting.mentor_loss import MentorLoss
from mentornet.weighting.noise_rate import NoiseEstimate, NoiseRate
from mentornet.weighting.percentile import PercentileEMA
from mentornet.weighting.relearning import Relearning, check_updates
from mentornet.weighting.spade import Spade, SpadeConfig, apply_rule, history_of, weighted_mean
from mentornet.weighting.weight_decay import WeightDecay, add_weight_decay, scale_weight_decay

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
