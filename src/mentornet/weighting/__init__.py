"""The weighting engine: evidence, loss level, noise rate, weights, and learning from verdicts.

`MentorLoss` makes the engine available to any training loop.
"""

from __future__ import annotations

from mentornet.weighting.anchors import anchored_posterior, balanced
from mentornet.weighting.early import EarlyConfig, EarlyJudge
from mentornet.weighting.early_loss import EarlyLoss
from mentornet.weighting.early_term import clipped, early_learning_term
from mentornet.weighting.engine import Weighting, weighted_mean
from mentornet.weighting.evidence import Evidence, loss_on_another_class
from mentornet.weighting.history import LossHistory
from mentornet.weighting.learning import LearnedMentor, Learning, Outcome
from mentornet.weighting.levels import ClassLossLevel, FairLossLevel, LossLevel
from mentornet.weighting.linear_fit import LinearFit, fit_linear, standardised
from mentornet.weighting.mentor_loss import MentorLoss
from mentornet.weighting.noise_rate import NoiseEstimate, NoiseRate
from mentornet.weighting.out_of_fold import judge_features, linear_decay
from mentornet.weighting.posterior import LabelPosterior, confident_start, label_posterior
from mentornet.weighting.rules import Rule, find_rule
from mentornet.weighting.settings import DATA_DRIVEN, LearningConfig, WeightingConfig
from mentornet.weighting.verdict_probe import learn_true_class
from mentornet.weighting.weight_decay import (
    WeightDecay,
    add_weight_decay,
    scale_weight_decay,
    shrink,
)

__all__ = [
    "DATA_DRIVEN",
    "ClassLossLevel",
    "EarlyConfig",
    "EarlyJudge",
    "EarlyLoss",
    "Evidence",
    "FairLossLevel",
    "LabelPosterior",
    "LearnedMentor",
    "Learning",
    "LearningConfig",
    "LinearFit",
    "LossHistory",
    "LossLevel",
    "MentorLoss",
    "NoiseEstimate",
    "NoiseRate",
    "Outcome",
    "Rule",
    "WeightDecay",
    "Weighting",
    "WeightingConfig",
    "add_weight_decay",
    "anchored_posterior",
    "balanced",
    "clipped",
    "confident_start",
    "early_learning_term",
    "find_rule",
    "fit_linear",
    "judge_features",
    "label_posterior",
    "learn_true_class",
    "linear_decay",
    "loss_on_another_class",
    "scale_weight_decay",
    "shrink",
    "standardised",
    "weighted_mean",
]
