"""From a batch's losses to its weights: features, moving percentile, history, SPADE."""

from __future__ import annotations

from mentornet.criterion.data_driven import DataDriven, Outcome, Verified
from mentornet.criterion.history import LossHistory
from mentornet.criterion.percentile import PercentileEMA
from mentornet.criterion.spade import Spade, SpadeConfig, apply_rule, history_of, weighted_mean

__all__ = [
    "DataDriven",
    "LossHistory",
    "Outcome",
    "PercentileEMA",
    "Spade",
    "SpadeConfig",
    "Verified",
    "apply_rule",
    "history_of",
    "weighted_mean",
]
