"""SPADE: the weights of a mini-batch, and the step on them (Algorithm 1, Eq. 12).

This is the one SPADE step. The trainer, the drop-in and the integrations all use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.curricula import Curriculum, Uniform
from mentornet.errors import MentorNetError
from mentornet.features import EPOCHS, MentorFeatures
from mentornet.mentors import Mentor, sample_weights
from mentornet.weighting.class_percentile import ClassPercentile
from mentornet.weighting.draws import hashed_uniform
from mentornet.weighting.fair_percentile import FairPercentile
from mentornet.weighting.history import LossHistory
from mentornet.weighting.percentile import PercentileEMA, check_pace
from mentornet.weighting.sharpening import Sharpened
from mentornet.weighting.smoothing import SmoothedLoss

__all__ = ["Spade", "SpadeConfig", "apply_rule", "history_of", "weighted_mean"]


@dataclass(frozen=True)
class SpadeConfig:
    """The settings of the paper (§5.1, App. E), and what it leaves open.

    Args:
        percentile: p of ℓ_pt.
        decay: of its moving average.
        burn_in: share of training in which samples are dropped at random only.
        burn_in_drop: share of samples that burn-in drops; the paper gives no number, the
            authors' released code drops half.
        drop: share of samples dropped at random after burn-in; 0 in the paper.
        smoothing: of each sample's own losses, how much of their average stays at each look; 0
            in the paper: the loss as it is. See `SmoothedLoss`.
        sharpness: how firmly the rule decides; 0 in the paper: v as it is. See `Sharpened`.
        decided_by: share of training by which it decides so firmly.
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
        check_pace(self.percentile, self.decay)
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


def weighted_mean(weight: Tensor, loss: Tensor) -> Tensor:
    """(1/B) Σ v ℓ, the weighted term of Eq. 1 over a batch; v is held fixed.

    >>> weighted_mean(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 9.0]))
    tensor(1.5000)
    """
    return (weight.detach() * loss).mean()


class Spade(nn.Module):
    """Algorithm 1's steps 4 to 11, batch by batch: features, then weights.

    With a mentor, or a curriculum's own formula: v ← g_m(φ(Ξ); Θ) (step 11, Eq. 12). With
    `explicit`, a projected gradient step on the stored v of just the samples in the batch:
    v ← clip(v − α ∂/∂v [v ℓ + G(v; λ)], 0, 1) (step 9), from v⁰ = 1.

    Args:
        rule: the mentor or curriculum; see `use`.
        total_steps: of the whole training, what progress is measured by.
        config: see `SpadeConfig`.
        count: N, needed for a history or for `explicit`.
        history: T, how many losses of a sample are kept; at least what the rule reads. Rules
            that read fewer get the newest.
        half_history: keep them as float16.
        explicit: whether to use the curriculum's G; needs sample indices.
        by_class: K, to have ℓ_pt of each class for itself; see `ClassPercentile`.
        fair: where ℓ_pt is that of all, see to it that no class is starved; see `FairPercentile`.
        seed: of the draws of burn-in, which a sample's index decides where it is given.
    """

    step: Tensor
    stored: Tensor | None

    def __init__(
        self,
        rule: Mentor | Curriculum,
        *,
        total_steps: int,
        config: SpadeConfig | None = None,
        count: int | None = None,
        history: int = 1,
        half_history: bool = False,
        explicit: bool = False,
        by_class: int | None = None,
        fair: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if total_steps < 1:
            raise MentorNetError(f"total_steps must be ≥ 1, got {total_steps}")
        self.config = config or SpadeConfig()
        self.total_steps, self.seed = total_steps, seed
        self._rule = (rule,)  # in a tuple, so that Θ is no part of this module's state
        self.level: PercentileEMA | ClassPercentile
        if by_class is not None:
            self.level = ClassPercentile(by_class, self.config.percentile)
        else:
            of_all = FairPercentile if fair else PercentileEMA
            self.level = of_all(self.config.percentile, self.config.decay)
        self.register_buffer("step", torch.zeros((), dtype=torch.long))
        self.smoothed: SmoothedLoss | None = None
        if self.config.smoothing:
            self.smoothed = SmoothedLoss(_needed(count, "smoothing"), self.config.smoothing)
        self.sharpened: Sharpened | None = None
        if self.config.sharpness:
            self.sharpened = Sharpened(
                self.config.sharpness, self.config.decided_by, self.config.decay
            )
        steps = max(history, history_of(rule))
        self.history: LossHistory | None = None
        if steps > 1:
            dtype = torch.float16 if half_history else torch.float32
            self.history = LossHistory(_needed(count, "a history"), steps, dtype)
        if explicit and not (isinstance(rule, Curriculum) and rule.has_penalty):
            raise MentorNetError("explicit SPADE needs a curriculum of known G")
        stored = torch.ones(_needed(count, "explicit SPADE")) if explicit else None
        self.register_buffer("stored", stored)

    @property
    def rule(self) -> Mentor | Curriculum:
        """What weighs."""
        return self._rule[0]

    def use(self, rule: Mentor | Curriculum) -> None:
        """Weigh by another rule from now on ("update curriculum", step 6)."""
        self._rule = (rule,)

    @property
    def epoch(self) -> int:
        """Progress in percent, 0–99; on an accelerator this waits."""
        return int(self.progress)

    @property
    def progress(self) -> Tensor:
        """The same as a scalar that nobody waits for."""
        return (self.step * EPOCHS // self.total_steps).clamp(max=EPOCHS - 1)

    def _apply(self, fn: Any, recurse: bool = True) -> Spade:
        """Where this module goes, its mentor goes."""
        if isinstance(self.rule, Mentor):
            self.rule._apply(fn, recurse)
        return super()._apply(fn, recurse)

    @torch.no_grad()
    def features(
        self,
        losses: Tensor,
        label: Tensor,
        index: Tensor | None = None,
        *,
        percentile: Tensor | None = None,
    ) -> MentorFeatures:
        """φ of a batch (step 4), which also moves ℓ_pt and the history.

        Args:
            losses: ℓ, `(B,)`.
            label: the given labels, `(B,)`.
            index: which samples they are, `(B,)`; for a history.
            percentile: p of ℓ_pt from here on, in place of the set one.
        """
        if self.smoothed is not None:
            losses = self.smoothed.push(_given(index), losses)
        level = self.level.update(losses, label, percentile=percentile)
        difference = losses - level.to(losses.dtype)
        if self.history is None:
            loss_steps, difference_steps = losses[:, None], difference[:, None]
        else:
            loss_steps, difference_steps = self.history.push(_given(index), losses, difference)
        epoch = self.progress.expand(len(losses))
        return MentorFeatures(loss_steps, difference_steps, label, epoch)

    @torch.no_grad()
    def weigh(
        self,
        losses: Tensor,
        label: Tensor,
        index: Tensor | None = None,
        *,
        learning_rate: float = 1.0,
    ) -> Tensor:
        """The weights v of a batch, `(B,)`, without gradient; counts as one step.

        A loss that is no finite number has weight 0 and leaves no trace.

        Args:
            losses: ℓ, `(B,)`.
            label: the given labels, `(B,)`.
            index: which samples they are, `(B,)`; for a history or explicit G.
            learning_rate: α of an explicit step.
        """
        features = self.features(losses.detach(), label, index)
        return self.weigh_features(features, index, learning_rate=learning_rate)

    @torch.no_grad()
    def weigh_features(
        self,
        features: MentorFeatures,
        index: Tensor | None = None,
        *,
        learning_rate: float = 1.0,
    ) -> Tensor:
        """The second half of `weigh`, for who wants to see the features in between."""
        if self.stored is None:
            weight = apply_rule(self.rule, features)
        else:
            weight = self._by_gradient(features, _given(index), learning_rate)
        if self.sharpened is not None and not isinstance(self.rule, Uniform):
            weight = self.sharpened(weight, self.step / self.total_steps)
        pace = self.config
        if pace.burn_in or pace.drop:
            starting = self.step < pace.burn_in * self.total_steps
            drop = torch.where(starting, pace.burn_in_drop, pace.drop)
            ids = torch.arange(len(weight), device=weight.device) if index is None else index
            draws = hashed_uniform(self.seed, self.step, ids)
            weight = sample_weights(weight, draws, drop_rate=drop, burn_in=starting)
        self.step = self.step + 1
        return torch.where(features.current_loss.isfinite(), weight, 0.0)

    def _by_gradient(self, features: MentorFeatures, index: Tensor, rate: float) -> Tensor:
        assert self.stored is not None
        assert isinstance(self.rule, Curriculum)
        weight = self.stored[index]
        with torch.enable_grad():
            free = weight.requires_grad_()
            objective = free * features.current_loss + self.rule.penalty(free, features)
            (gradient,) = torch.autograd.grad(objective.sum(), free)
        moved = (weight.detach() - rate * gradient).clamp(0, 1)
        moved = torch.where(moved.isnan(), weight.detach(), moved)
        self.stored[index] = moved.to(self.stored.dtype)
        return moved


def history_of(rule: Mentor | Curriculum) -> int:
    """T, how many steps of loss the rule reads."""
    return rule.config.history if isinstance(rule, Mentor) else rule.min_history


def apply_rule(rule: Mentor | Curriculum, features: MentorFeatures) -> Tensor:
    """The weights v by a mentor or a formula, from the newest losses that it reads."""
    if isinstance(rule, Mentor):
        weight: Tensor = rule(features.newest(rule.config.history))
        return weight
    return rule.weight(features)


def _needed(count: int | None, what: str) -> int:
    if count is None:
        raise MentorNetError(
            f"{what} needs the number of samples: give count, or samples= of MentorLoss"
        )
    return count


def _given(index: Tensor | None) -> Tensor:
    if index is None:
        raise MentorNetError("index is missing: which samples are these?")
    return index
