"""The weighting engine: it computes weights from the evidence of a batch, and learns mentors.

The trainer, `MentorLoss` and the integrations all call it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from mentornet.curricula import Curriculum, Uniform
from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors import sample_weights
from mentornet.randomness import hashed_uniform
from mentornet.verdicts import VerdictLookup, Verdicts
from mentornet.weighting.evidence import Evidence
from mentornet.weighting.history import LossHistory
from mentornet.weighting.learning import Learning, Outcome
from mentornet.weighting.levels import ClassLossLevel, FairLossLevel, LossLevel
from mentornet.weighting.loss_scale import LossScale
from mentornet.weighting.noise_rate import AutoPercentile, NoiseRate
from mentornet.weighting.rules import Rule
from mentornet.weighting.settings import LearningConfig, WeightingConfig
from mentornet.weighting.sharpening import Sharpened
from mentornet.weighting.smoothing import SmoothedLoss
from mentornet.weighting.text_scale import TextScale

__all__ = ["Weighting", "weighted_mean"]


def weighted_mean(weight: Tensor, loss: Tensor) -> Tensor:
    """Return (1/B) Σ v ℓ, the weighted term of Eq. 1 over a batch; v has no gradient.

    >>> weighted_mean(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 9.0]))
    tensor(1.5000)
    """
    return (weight.detach() * loss).mean()


class Weighting(nn.Module):
    """Algorithm 1's steps 4 to 11, batch by batch: from evidence to weights (Eq. 12).

    A mentor or curriculum gives v ← g_m(φ(Ξ); Θ) (step 11). With `explicit`, the weights of all
    samples are stored, from v⁰ = 1, and those of the batch take a projected gradient step:
    v ← clip(v − α ∂/∂v [v ℓ + G(v; λ)], 0, 1) (step 9). After `learn_from`, mentors are learned
    from verdicts (step 6).

    Args:
        rule: the mentor or curriculum that gives the weights; see `use`.
        total_steps: the number of steps of the whole training; progress is measured by it.
        config: see `WeightingConfig`.
        count: N, the number of training samples. A history, `smoothing`, `explicit` and verdicts
            need it.
        history: T, how many losses of a sample are kept; at least as many as the rule reads.
        half_history: whether to store the history as float16.
        explicit: take gradient steps on stored weights; the rule must be a curriculum of known G.
        by_class: K, to compare each sample with the loss level of its own class.
        auto: estimate the noise rate, and set the percentile of ℓ_pt by it (see `AutoPercentile`).
            All weights are 1 until the student knows enough, and no class is left out as a whole.
        estimates_noise: estimate the noise rate in any case, for `noise.estimate()`, and of losses
            of any kind (`LossScale`).
        reads_label: whether the rule reads the given label; if not, its label input is 0.
        unit: losses are divided by this before anything else.
        texts: whether losses are those of texts, which `TextScale` makes comparable.
        seed: seed of the random draws of burn-in.
    """

    step: Tensor
    stored: Tensor | None

    def __init__(
        self,
        rule: Rule,
        *,
        total_steps: int,
        config: WeightingConfig | None = None,
        count: int | None = None,
        history: int = 1,
        half_history: bool = False,
        explicit: bool = False,
        by_class: int | None = None,
        auto: bool = False,
        estimates_noise: bool = False,
        reads_label: bool = True,
        unit: float = 1.0,
        texts: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if total_steps < 1:
            raise MentorNetError(f"total_steps must be ≥ 1, got {total_steps}")
        self.config = config = config or WeightingConfig()
        self.total_steps, self.count, self.seed = total_steps, count, seed
        self.reads_label, self.unit = reads_label, unit
        self._rule = (rule,)  # in a tuple, so that Θ is not part of this module's state
        self.register_buffer("step", torch.zeros((), dtype=torch.long))
        self.level: LossLevel | ClassLossLevel
        if by_class is not None:
            self.level = ClassLossLevel(by_class, config.percentile)
        else:
            self.level = (FairLossLevel if auto else LossLevel)(config.percentile, config.decay)
        self.auto = AutoPercentile() if auto else None
        self.noise = NoiseRate(total_steps, config.burn_in) if auto or estimates_noise else None
        self.scale: LossScale | TextScale | None = None
        if estimates_noise:
            self.scale = TextScale() if texts else LossScale()
        self.smoothed = self.sharpened = self.history = None
        if config.smoothing:
            self.smoothed = SmoothedLoss(_needed(count, "smoothing"), config.smoothing)
        if config.sharpness:
            self.sharpened = Sharpened(config.sharpness, config.decided_by, config.decay)
        steps = max(history, rule.min_history)
        if steps > 1:
            dtype = torch.float16 if half_history else torch.float32
            self.history = LossHistory(_needed(count, "a history"), steps, dtype)
        if explicit and not (isinstance(rule, Curriculum) and rule.has_penalty):
            raise MentorNetError("explicit SPADE needs a curriculum of known G")
        stored = torch.ones(_needed(count, "explicit SPADE")) if explicit else None
        self.register_buffer("stored", stored)
        self.learning: Learning | None = None
        self.known: VerdictLookup | None = None
        self.register_load_state_dict_post_hook(_use_saved_rule)

    @property
    def rule(self) -> Rule:
        """The mentor or curriculum that gives the weights now."""
        return self._rule[0]

    def use(self, rule: Rule) -> None:
        """Compute the weights by another rule from now on ("update curriculum", step 6)."""
        self._rule = (rule,)

    def learn_from(
        self, verdicts: Verdicts, classes: int, config: LearningConfig, *, teaches: bool = True
    ) -> None:
        """Learn mentors from verdicts at set points of training (§3.1, App. E).

        Args:
            verdicts: the verdicts on labels.
            classes: K.
            config: see `LearningConfig`.
            teaches: whether verdicts decide the weights of their samples: 1 if the label is correct
                or the true label is known, else 0. If not, such samples are weighted like all
                others.
        """
        if self.stored is not None:
            raise MentorNetError("explicit SPADE has no mentor that could learn from verdicts")
        count = _needed(self.count, "learning from verdicts")
        self.learning = Learning(
            verdicts, count=count, predefined=self.rule, total_steps=self.total_steps,
            begun=int(self.step), classes=classes, config=config, seed=self.seed,
        )  # fmt: skip
        self.known = VerdictLookup(verdicts) if teaches else None
        if self.learning.simulates_wrong and self.noise is None:
            self.noise = NoiseRate(self.total_steps, self.config.burn_in)
        self.to(self.step.device)

    @property
    def outcomes(self) -> list[Outcome]:
        """The result of each update of the mentor so far."""
        return [] if self.learning is None else self.learning.outcomes

    @property
    def progress(self) -> Tensor:
        """Progress in percent, 0–99, a scalar on the device."""
        return (self.step * PERCENT // self.total_steps).clamp(max=PERCENT - 1)

    @torch.no_grad()
    def weigh(self, evidence: Evidence, *, learning_rate: float = 1.0) -> Tensor:
        """Return the weights v of a batch, `(B,)`; this is one step.

        A loss that is NaN or infinite has weight 0 and changes no state. Under autocast, call this
        within `full_precision`.

        Args:
            evidence: the evidence of the batch; if several processes train together, of all.
            learning_rate: α of an explicit step.
        """
        features = self._features(evidence)
        if self.learning is not None:
            self.learning.observe(features, _given(evidence.index), evidence.wrong)
        weight = self._weights(features, evidence.index, learning_rate)
        if self.known is not None:
            weight = self.known.weigh(weight, _given(evidence.index))
        self.step = self.step + 1
        return weight

    def learn_if_due(self) -> bool:
        """Learn a mentor if one is due, and return whether it was."""
        if self.learning is None or not self.learning.is_due:
            return False
        self.use(self.learning.update(None if self.noise is None else self.noise.rate.item()))
        return True

    def _features(self, evidence: Evidence) -> MentorFeatures:
        """Return φ of a batch (step 4), and update ℓ_pt, noise rate, averages and histories."""
        losses, percentile = evidence.losses / self.unit, None
        if self.noise is not None:
            comparable = None
            if isinstance(self.scale, TextScale):  # the two groups are seen on its scale alone
                losses = self.scale(losses)
            elif evidence.wrong is None:  # losses of any kind
                comparable = None if self.scale is None else self.scale(losses)
                losses = losses if self.auto is None else self.auto.measured(losses)
            self.noise.update(losses, evidence.wrong, self.step, comparable)
            if self.auto is not None:
                losses = losses if comparable is None else comparable
                percentile = self.auto(self.noise.average, self.noise.settled)
        if self.learning is not None and not torch.compiler.is_compiling():
            self.learn_if_due()
        if self.smoothed is not None:
            losses = self.smoothed.push(_given(evidence.index), losses)
        level = self.level.update(losses, evidence.labels, percentile=percentile)
        difference = losses - level.to(losses.dtype)
        window = losses[:, None], difference[:, None]
        if self.history is not None:
            window = self.history.push(_given(evidence.index), losses, difference)
        label = evidence.labels if self.reads_label else torch.zeros_like(evidence.labels)
        return MentorFeatures(*window, label, self.progress.expand(len(losses)))

    def _weights(self, features: MentorFeatures, index: Tensor | None, rate: float) -> Tensor:
        """Return v of a batch: the rule, then sharpening, burn-in and dropping."""
        rule, pace = self.rule, self.config
        if self.stored is None:
            weight = rule.weight(features)
        else:
            weight = self._by_gradient(features, _given(index), rate)
        if self.sharpened is not None and not isinstance(rule, Uniform):
            weight = self.sharpened(weight, self.step / self.total_steps)
        finite = features.loss[:, -1].isfinite()
        if self.auto is not None:
            assert self.noise is not None
            weight = torch.where(self.noise.settled, weight, 1.0)
        elif pace.burn_in or pace.drop:
            starting = self.step < pace.burn_in * self.total_steps
            drop = torch.where(starting, pace.burn_in_drop, pace.drop)
            ids = torch.arange(len(weight), device=weight.device) if index is None else index
            draws = hashed_uniform(self.seed, self.step, ids)
            weight = sample_weights(weight, draws, drop_rate=drop, burn_in=starting)
        return torch.where(finite, weight, 0.0)

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

    def _apply(self, fn: Any, recurse: bool = True) -> Weighting:
        """Move the mentor and the look-up of verdicts together with this module."""
        if isinstance(self.rule, nn.Module):
            self.rule._apply(fn, recurse)
        super()._apply(fn, recurse)
        if self.learning is not None:
            self.known = None if self.known is None else VerdictLookup(self.learning.verdicts)
        return self


def _use_saved_rule(engine: nn.Module, _: Any) -> None:
    """Use the rule that was used when the state was saved."""
    assert isinstance(engine, Weighting)
    if engine.learning is not None:
        engine.use(engine.learning.rule)


def _needed(count: int | None, what: str) -> int:
    if count is None:
        raise MentorNetError(
            f"{what} needs the number of samples: give count, or samples= of MentorLoss"
        )
    return count


def _given(index: Tensor | None) -> Tensor:
    if index is None:
        raise MentorNetError("index is missing: it must name the samples of the batch")
    return index
