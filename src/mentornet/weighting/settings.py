"""The settings of the weighting engine; the defaults are the paper's where it states them."""

from __future__ import annotations

from dataclasses import dataclass

from mentornet.errors import MentorNetError
from mentornet.mentors import FitConfig
from mentornet.weighting.levels import check_level

__all__ = ["DATA_DRIVEN", "LearningConfig", "WeightingConfig"]


@dataclass(frozen=True)
class WeightingConfig:
    """How weights are made from losses: the paper's settings (§5.1, App. E), and our additions.

    Args:
        percentile: p of the loss level ℓ_pt, in [0, 1].
        decay: decay of the moving average ℓ_pt, in [0, 1).
        burn_in: share of training in which samples are only dropped at random, without a mentor.
        burn_in_drop: share of samples that burn-in drops. The paper gives no number; the authors'
            released code drops half.
        drop: share of samples dropped at random after burn-in; 0 in the paper.
        smoothing: decay of the moving average of each sample's loss, in [0, 1). 0, as in the paper,
            uses the last loss. See `SmoothedLoss`.
        sharpness: how strongly weights are pushed to 0 or 1. 0, as in the paper, leaves them as
            they are. See `Sharpened`.
        decided_by: share of training after which `sharpness` has its full effect, in (0, 1].
    """

    percentile: float = 0.75
    decay: float = 0.95
    burn_in: float = 0.2
    burn_in_drop: float = 0.5
    drop: float = 0.0
    smoothing: float = 0.0
    sharpness: float = 0.0
    decided_by: float = 1.0

    def __post_init__(self) -> None:
        check_level(self.percentile, self.decay)
        for name in ("burn_in", "burn_in_drop", "drop"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise MentorNetError(f"{name} must be in [0, 1], got {value:g}")
        if not 0 <= self.smoothing < 1:
            raise MentorNetError(f"smoothing must be in [0, 1), got {self.smoothing:g}")
        if not self.sharpness >= 0:
            raise MentorNetError(f"sharpness must be ≥ 0, got {self.sharpness:g}")
        if not 0 < self.decided_by <= 1:
            raise MentorNetError(f"decided_by must be in (0, 1], got {self.decided_by:g}")


DATA_DRIVEN = WeightingConfig(
    burn_in=0.1, burn_in_drop=0.0, smoothing=0.8, sharpness=6.0, decided_by=0.3
)
"""Our defaults for mentors that are learned from verdicts; the best in our benchmark."""


@dataclass(frozen=True)
class LearningConfig:
    """How a mentor is learned from verdicts while the student trains (§3.1, App. E).

    Args:
        updates: when a mentor is learned, as rising shares of training in (0, 1). The paper uses
            0.21 and 0.75. Ours are every twentieth, as a mentor goes stale as the student learns.
        history: T ≥ 1, how many losses of a sample the mentor reads.
        reads_label: whether the mentor reads the given label. All classes with fewer than 10
            verified samples are read as one class.
        steps: number of steps of Adam at each update, ≥ 1.
        learning_rate: the highest learning rate of Adam, > 0.
        fallback: whether the predefined rule is used where it does better on held-out samples. The
            paper always uses the learned mentor.
        held_out: share of the verified samples that only measures how good the mentor is, in
            [0, 1); 0 in the paper. `fallback` needs some.
        architecture: name of the mentor's architecture.
    """

    updates: tuple[float, ...] = tuple(percent / 100 for percent in range(12, 97, 5))
    history: int = 1
    reads_label: bool = False
    steps: int = 600
    learning_rate: float = 0.03
    fallback: bool = True
    held_out: float = 0.2
    architecture: str = "bilstm"

    def __post_init__(self) -> None:
        if not self.updates:
            raise MentorNetError("updates must hold at least one share of training")
        if list(self.updates) != sorted(set(self.updates)):
            raise MentorNetError(f"updates must rise, got {self.updates}")
        for share in self.updates:
            if not 0 < share < 1:
                raise MentorNetError(f"updates must be shares of training in (0, 1), got {share:g}")
        if self.history < 1:
            raise MentorNetError(f"history must be ≥ 1, got {self.history}")
        if not 0 <= self.held_out < 1:
            raise MentorNetError(f"held_out must be in [0, 1), got {self.held_out:g}")
        if self.fallback and not self.held_out:
            raise MentorNetError(
                "held_out is 0, but fallback compares two rules on held-out samples; set "
                "fallback=off too, or hold some out"
            )
        self.fit()

    def fit(self) -> FitConfig:
        """Return the settings of each fit."""
        return FitConfig(self.steps, learning_rate=self.learning_rate, evaluations=20)
