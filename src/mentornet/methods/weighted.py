"""Supervision by SPADE: what all methods that weigh samples share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from mentornet.data import Batch
from mentornet.methods.method import Method, Supervision
from mentornet.weighting import Spade, SpadeConfig

__all__ = ["Paced", "SpadeMethod"]


class Paced(Supervision):
    """The weights of SPADE on the cross-entropy.

    Args:
        spade: at its first step.
        reads_label: whether the rule sees the given label, or always 0.
        pace: what the learning rate is multiplied by for an explicit step on v.
        unit: what the losses are divided by before they are judged.
    """

    weighs = True

    def __init__(
        self, spade: Spade, *, reads_label: bool = True, pace: float = 1.0, unit: float = 1.0
    ) -> None:
        self.spade, self.reads_label, self.pace, self.unit = spade, reads_label, pace, unit

    def weights(self, losses: Tensor, batch: Batch, learning_rate: float) -> Tensor | None:
        label = batch.given_label if self.reads_label else batch.given_label * 0
        rate = self.pace * learning_rate
        return self.spade.weigh(losses / self.unit, label, batch.index, learning_rate=rate)

    def figures(self) -> Mapping[str, Tensor | float]:
        return {"loss_percentile": self.spade.level.value}

    def state_dict(self) -> dict[str, Any]:
        return {"spade": self.spade.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.spade.load_state_dict(state["spade"])


@dataclass(frozen=True)
class SpadeMethod(Method):
    """The settings that all methods on SPADE share; see `SpadeConfig`.

    Args:
        percentile: p of ℓ_pt, in [0, 1].
        decay: of its moving average.
        burn_in: share of training in which samples are dropped at random only.
        burn_in_drop: share of samples that burn-in drops.
        drop: share of samples dropped at random after burn-in.
        half_history: keep the losses that a mentor with T > 1 looks back on as float16.
        smoothing: of each sample's own losses, how much of their average stays at each look.
        sharpness: how firmly the mentor decides; with 0, v is as it says.
        decided_by: share of training by which it decides so firmly.
    """

    percentile: float = SpadeConfig.percentile
    decay: float = SpadeConfig.decay
    burn_in: float = SpadeConfig.burn_in
    burn_in_drop: float = SpadeConfig.burn_in_drop
    drop: float = SpadeConfig.drop
    half_history: bool = False
    smoothing: float = SpadeConfig.smoothing
    sharpness: float = SpadeConfig.sharpness
    decided_by: float = SpadeConfig.decided_by

    def __post_init__(self) -> None:
        self.pace()

    def pace(self) -> SpadeConfig:
        """These settings as SPADE takes them."""
        return SpadeConfig(
            self.percentile, self.decay, self.burn_in, self.burn_in_drop, self.drop,
            self.smoothing, self.sharpness, self.decided_by,
        )  # fmt: skip
