"""The engine in a user's own training loop: weights, learning, metrics and audit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from mentornet.curricula import Curriculum
from mentornet.distributed import EvenBatches
from mentornet.errors import MentorNetError
from mentornet.precision import HALF, full_precision
from mentornet.records import Records
from mentornet.verdicts import Verdicts
from mentornet.weighting.account import Account
from mentornet.weighting.checks import (
    as_shares,
    can_look,
    check_auto,
    check_evidence,
    check_given_labels,
    check_labels,
    check_numbers,
    check_steps,
)
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import Evidence, gathered
from mentornet.weighting.noise_rate import NoiseEstimate, NoiseRate
from mentornet.weighting.observing import observe, one_each
from mentornet.weighting.rules import AUTO, Rule, find_rule
from mentornet.weighting.settings import DATA_DRIVEN, LearningConfig, WeightingConfig

if TYPE_CHECKING:
    from mentornet.audit.ranking import Ranking

__all__ = ["Criterion"]


class Criterion(nn.Module):
    """The base of `MentorLoss`: everything but the loss. See there for the arguments."""

    def __init__(
        self,
        mentor: str | Path | Rule,
        total_steps: int | None,
        burn_in: float | None,
        *,
        samples: int | None,
        by_class: int | None,
        percentile: float | None,
        burn_in_drop: float | None,
        explicit: bool,
        updates: tuple[float, ...] | None,
        seed: int,
    ) -> None:
        super().__init__()
        self.is_auto = isinstance(mentor, str) and mentor == AUTO
        self.total_steps, self.samples = check_steps(total_steps, samples)
        if self.is_auto:
            check_auto(percentile, burn_in_drop)
        self.learning_config = LearningConfig() if updates is None else LearningConfig(updates)
        self.by_class, self.seed = by_class, seed
        given = {"percentile": percentile, "burn_in": burn_in, "burn_in_drop": burn_in_drop}
        self._given = {name: value for name, value in given.items() if value is not None}
        self._rule = (find_rule(mentor),)  # in a tuple, so that Θ is not part of the state
        self.engine = self._make_engine(WeightingConfig(**self._given), self.is_auto, explicit)
        self.account = Account(self.samples)
        self.weights = torch.ones(0)
        self._unlabelled: Tensor | None = None
        self._even = EvenBatches()
        self._calls = 0
        self.register_load_state_dict_post_hook(_count_on)

    def _make_engine(
        self, config: WeightingConfig, auto: bool, explicit: bool = False
    ) -> Weighting:
        return Weighting(
            self._rule[0], total_steps=self.total_steps, count=self.samples, explicit=explicit,
            config=config, by_class=self.by_class, auto=auto, estimates_noise=True, seed=self.seed,
        )  # fmt: skip

    def weigh(
        self,
        losses: Tensor,
        labels: Tensor | None = None,
        *,
        index: Tensor | None = None,
        logits: Tensor | None = None,
    ) -> Tensor:
        """Return only the weights v, `(B,)`, for a loop that reduces by itself. This is one step.

        In eval mode all weights are 1, and nothing changes.

        Args:
            losses: ℓ, `(B,)` or `(B, …)`, as for `forward`.
            labels: the given labels, `(B,)`.
            index: the numbers of these samples in the training set, `(B,)`.
            logits: `(B, K)`. With logits and labels the noise rate is estimated better than from
                losses alone.
        """
        losses = one_each(losses).detach()
        if losses.dtype in HALF:
            losses = losses.float()
        if not self.training:
            return torch.ones_like(losses)
        labels = check_given_labels(losses, labels, self.engine, self.by_class)
        losses = losses.masked_fill(~losses.isfinite(), torch.nan)
        if logits is None:
            evidence = Evidence(losses, labels, torch.full_like(labels, -1), index)
            return self._weigh(evidence, own_losses=True)
        check_labels(logits, labels)
        seen, _ = observe(
            logits.detach(), labels, index, self.engine, margins=self.samples is not None
        )
        return self._weigh(replace(seen, losses=losses), own_losses=True)

    def _weigh(self, evidence: Evidence, *, own_losses: bool = False) -> Tensor:
        """Return the weights of our samples, from the evidence of all processes; one exchange.

        Args:
            evidence: of our samples.
            own_losses: whether the losses are the user's own, which may be below 0.
        """
        self._check(evidence)
        self._unlabelled = evidence.unlabelled
        evidence, mine = gathered(evidence, self._even, look=can_look(evidence.losses))
        engine, step, progress = self.engine, self.engine.step, self.engine.progress
        with full_precision(evidence.losses.device):
            weights = engine.weigh(evidence)
            if own_losses and isinstance(engine.rule, Curriculum):
                weights = as_shares(weights, evidence.losses, f"mentor {engine.rule.name!r}")
            self.account.add(evidence, weights, engine, step=step, progress=progress)
        self.weights = weights[mine]
        return self.weights

    @property
    def records(self) -> Records | None:
        """The records of every sample; None without `samples=`."""
        return self.account.records

    @property
    def noise(self) -> NoiseRate:
        """The running estimate of the noise rate."""
        assert self.engine.noise is not None
        return self.engine.noise

    def noise_estimate(self) -> NoiseEstimate:
        """Return the estimated share of wrong labels so far, an interval, and its assumption.

        This works with any mentor, and best at the end of training. With `samples=` and `index=` it
        is more accurate, because each label is compared with all recent predictions of its sample.
        """
        return self.noise.estimate(None if self.records is None else self.records.steady())

    def audit(
        self, classes: Sequence[str] | None = None, paths: Sequence[str] | None = None
    ) -> Ranking:
        """Rank the labels by how likely they are wrong; this needs `samples=` and `index=`.

        The `table` of the result has one row per sample, worst first; `wrong` is the estimated
        number of wrong labels (see `mentornet.audit.rank`).

        Args:
            classes: the names of the classes, for the table.
            paths: the names of the samples by their number, such as those of their files.
        """
        from mentornet.audit.ranking import rank  # imported late: it needs pandas

        if self.records is None:
            raise MentorNetError(
                "the audit needs records of every sample: give samples= (how many there are) when "
                "you make the criterion, and index= in every step"
            )
        rate = self.noise_estimate().rate if self.noise.knows_wrong else None
        return rank(self.records, classes=classes, noise_rate=rate, paths=paths)

    def metrics(self) -> dict[str, float]:
        """Return metrics for a log; on an accelerator this synchronises with the device.

        They are the mean weight and the share of weights above ½ in the last batch, over samples
        that have a label; ℓ_pt; the noise rate; progress in percent; and the number of losses so
        far that are NaN or infinite.
        """
        weights = self.weights if self._unlabelled is None else self.weights[~self._unlabelled]
        if len(weights) == 0:
            weights = torch.ones(1)
        return {
            "mean_weight": weights.mean().item(),
            "data_used": (weights > 0.5).float().mean().item(),
            "loss_level": self.engine.level.value.item(),
            "noise_rate": self.noise.rate.item(),
            "progress": float(self.engine.progress),
            "bad_samples": float(self.account.bad_samples.item()),
        }

    def learn_from(
        self,
        index: Sequence[int] | Tensor,
        is_correct: Sequence[bool] | Tensor,
        true_label: Sequence[int] | Tensor | None = None,
    ) -> None:
        """Learn a mentor from samples that a person has verified, as `mentornet-dd` does.

        A mentor is learned at each of the `updates`, from the student's losses on these samples.
        Until then, and if the learned mentor is not better on held-out samples, the mentor of the
        constructor is used ("pd" for "auto"). `notes` has the result of each update. The student is
        taught the verdicts: a correct label has weight 1, a wrong one 0, and where the true label
        is known, it replaces the given one. To restore such a criterion, call this method with the
        same samples before `load_state_dict`.

        Args:
            index: the numbers of the samples, `(M,)`, at least 10. If all their labels are correct,
                wrong labels are simulated: see `Lessons`.
            is_correct: whether the given label of each sample is correct, `(M,)`.
            true_label: the true label of each sample, `(M,)`, −1 where it is not known.
        """
        if self.samples is None:
            raise MentorNetError(
                "verdicts need the size of the training set: use MentorLoss(samples=N), and index= "
                "in each call"
            )
        labels = None if true_label is None else torch.as_tensor(true_label).long()
        verdicts = Verdicts(torch.as_tensor(index).long(), torch.as_tensor(is_correct), labels)
        verdicts.check(self.samples)
        before = self.engine
        if before.stored is not None:
            raise MentorNetError("explicit SPADE has no mentor that could learn from verdicts")
        if self.is_auto:
            self._rule = (find_rule("pd"),)
        self.engine = self._make_engine(replace(DATA_DRIVEN, **self._given), auto=False)
        self.engine.to(before.step.device)
        self.engine.load_state_dict(before.state_dict(), strict=False)  # what was seen so far
        learning = replace(self.learning_config, history=self._rule[0].min_history)
        self.engine.learn_from(verdicts.to(before.step.device), 1, learning)

    def learn_if_due(self) -> bool:
        """Learn a mentor if one is due, and return whether it was. Call it if this is compiled."""
        if self.engine.learning is not None:
            self.engine.learning.steps = int(self.engine.step)
        return self.engine.learn_if_due()

    @property
    def notes(self) -> list[str]:
        """One line per update of the mentor so far, with its result."""
        return [f"{outcome}" for outcome in self.engine.outcomes]

    def _check(self, evidence: Evidence) -> None:
        check_evidence(evidence, self.engine, self.samples, self.by_class)
        if torch.compiler.is_compiling():
            return
        if self._calls == self.total_steps:
            warnings.warn(
                f"MentorLoss was called more often than total_steps={self.total_steps}; progress "
                "stays at 99. total_steps should be epochs * len(loader)",
                stacklevel=4,
            )
        self._calls += 1
        if evidence.losses.device != self.engine.step.device:
            self.to(evidence.losses.device)
        check_numbers(evidence, self.engine.step, first=self.account.bad_samples == 0)

    def _apply(self, fn: Any, recurse: bool = True) -> Criterion:
        """Move to another device or dtype, but keep at least float32."""

        def not_halved(part: Tensor) -> Tensor:
            moved: Tensor = fn(part)
            return part.to(moved.device) if moved.dtype in HALF else moved

        super()._apply(not_halved, recurse)
        return self

    def extra_repr(self) -> str:
        name = AUTO if self.engine.auto is not None else self.engine.rule.name
        return f"mentor={name!r}, total_steps={self.total_steps}, samples={self.samples}"


def _count_on(module: nn.Module, _: Any) -> None:
    assert isinstance(module, Criterion)
    module._calls = int(module.engine.step)
