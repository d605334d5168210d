"""From a batch's losses to its weights: features, moving percentile, history, SPADE."""

from __future__ import annotations

from mentornet.criterion.history import LossHistory
from mentornet.criterion.percentile import PercentileEMA
from mentornet.criterion.spade import Spade, SpadeConfig, weighted_mean

__all__ = ["LossHistory", "PercentileEMA", "Spade", "SpadeConfig", "weighted_mean"]
