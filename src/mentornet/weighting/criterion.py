"""The engine in a user's own training loop: weights, learning, metrics and audit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mentornet.curricula import Curriculum
from mentornet.distributed import EvenBatches
from mentornet.errors import MentorNetError
from mentornet.precision import HALF, NeverHalved, full_precision
from mentornet.records import Records
from mentornet.verdicts import Verdicts
from mentornet.weighting.account import Account
from mentornet.weighting.checks import (
    as_shares,
    check_auto,
    check_evidence,
    check_given_labels,
    check_index,
    check_numbers,
    check_steps,
)
from mentornet.weighting.elements import Elements, check_groups_level, check_level
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import IGNORE, Evidence
from mentornet.weighting.forms import form_of, verdicts_on_elements
from mentornet.weighting.groups import Groups
from mentornet.weighting.noise_rate import NoiseEstimate, NoiseRate
from mentornet.weighting.observing import check_losses, one_each
from mentornet.weighting.rules import AUTO, Rule, find_rule
from mentornet.weighting.settings import DATA_DRIVEN, LearningConfig, WeightingConfig
from mentornet.weighting.whole_batch import Weighed, whole_batch

if TYPE_CHECKING:
    from mentornet.audit.ranking import Ranking

__all__ = ["Criterion"]


class Criterion(NeverHalved):
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
        level: str,
        elements: int | Sequence[int] | Tensor | None,
    ) -> None:
        super().__init__()
        check_level(level, elements)
        self.level, self.form = level, form_of(level)
        self.is_auto = isinstance(mentor, str) and mentor == AUTO
        self.total_steps, self.samples = check_steps(total_steps, samples)
        if self.is_auto:
            check_auto(percentile, burn_in_drop)
        self.elements = None if elements is None else Elements(self.samples, elements)
        self.learning_config = LearningConfig() if updates is None else LearningConfig(updates)
        self.by_class, self.seed = by_class, seed
        given = {"percentile": percentile, "burn_in": burn_in, "burn_in_drop": burn_in_drop}
        self._given = {name: value for name, value in given.items() if value is not None}
        self._rule = (find_rule(mentor),)  # in a tuple, so that Θ is not part of the state
        self.engine = self._make_engine(WeightingConfig(**self._given), self.is_auto, explicit)
        self.account = Account(self.samples if self.elements is None else self.elements.room)
        self.weights = torch.ones(0)
        self._unlabelled: Tensor | None = None
        self._even = EvenBatches()
        self._calls = 0
        self.register_load_state_dict_post_hook(_count_on)

    def _make_engine(
        self, config: WeightingConfig, auto: bool, explicit: bool = False
    ) -> Weighting:
        count = self.samples if self.by_sample else None
        if self.elements is not None:
            count = self.elements.room
        return Weighting(
            self._rule[0], total_steps=self.total_steps, count=count, explicit=explicit,
            config=config, by_class=self.by_class, auto=auto, estimates_noise=True, seed=self.seed,
            texts=self.level == "text",
        )  # fmt: skip

    def weigh(
        self,
        losses: Tensor,
        labels: Tensor | None = None,
        *,
        index: Tensor | None = None,
        logits: Tensor | None = None,
        groups: Tensor | None = None,
    ) -> Tensor:
        """Return only the weights v, for a loop that reduces by itself. This is one step.

        In eval mode all weights are 1, and nothing changes.

        Args:
            losses: ℓ, `(B,)` or `(B, …)`, as for `forward`. The weights are `(B,)`, or at finer
                levels of the shape of the losses.
            labels: the given labels, `(B,)`; at finer levels of the shape of the losses.
            index: the numbers of these samples in the training set, `(B,)`.
            logits: as for `forward`. With logits and labels the noise rate is estimated better than
                from losses alone.
            groups: as for `forward`.
        """
        losses = self.each_loss(losses).detach()
        if not self.training:
            return torch.ones_like(losses, dtype=torch.float if losses.dtype in HALF else None)
        return self._of_own(losses, labels, index, groups, logits).weights

    def each_loss(self, losses: Tensor) -> Tensor:
        """Return the user's losses, one for each weight."""
        return one_each(losses) if self.by_sample else check_losses(losses)

    def _of_own(
        self,
        losses: Tensor,
        labels: Tensor | None,
        index: Tensor | None,
        groups: Tensor | None,
        logits: Tensor | None = None,
    ) -> Weighed:
        """Return the weights of the user's own losses; see `weigh`."""
        losses = losses.detach()
        if losses.dtype in HALF:
            losses = losses.float()
        labels = check_given_labels(losses, labels, self.engine, self.by_class)
        own = losses.masked_fill(~losses.isfinite() | (labels == IGNORE), torch.nan).flatten()
        if logits is None:
            given = self.form.classes_of(labels)
            evidence = Evidence(own, given, torch.full_like(given, -1), index)
        else:
            logits, given = self.form.arranged(logits.detach(), labels)
            seen, _ = self.form.observe(
                logits, given, index, self.engine,
                width=own.numel() // len(losses), margins=self.remembers_elements,
            )  # fmt: skip
            evidence = replace(seen, losses=own)
        return self._weigh(evidence, labels, groups, own_losses=True)

    def _weigh(
        self,
        evidence: Evidence,
        labels: Tensor,
        groups: Tensor | None = None,
        *,
        own_losses: bool = False,
    ) -> Weighed:
        """Return the weights of our elements, from the evidence of all processes.

        Args:
            evidence: of our elements, `(E,)`, sample by sample; `index` has a number a sample.
            labels: the given labels, `(B,)`, or at finer levels `(B, …)`, as the weights will be.
            groups: as for `weigh`.
            own_losses: whether the losses are the user's own, which may be below 0.
        """
        joined = None
        if groups is not None:
            check_groups_level(self.level)
            joined = Groups(groups, labels)
            evidence = joined.joined(evidence)
        fine = not self.by_sample
        width = len(evidence.losses) // len(labels) if fine else 1
        self._check(evidence, width)
        engine, step, progress = self.engine, self.engine.step, self.engine.progress
        whole = whole_batch(evidence, width, self._even, uneven=self.level in ("token", "pixel"))
        seen = whole.numbered(self.elements) if fine else whole.evidence
        with full_precision(evidence.losses.device):
            weights = self._weights_of(seen)
            if own_losses and isinstance(engine.rule, Curriculum):
                weights = as_shares(weights, seen.losses, f"mentor {engine.rule.name!r}")
            self.account.count(seen, weights)
            if self.records is not None:
                kept = whole.kept(seen, weights, engine.scale, each=self.remembers_elements)
                self.account.remember(*kept, engine, step=step, progress=progress)
        weighed = whole.weighed(weights, seen.index, joined, labels.shape if fine else None)
        self.weights, self._unlabelled = weighed.weights, weighed.unlabelled
        return weighed

    def _weights_of(self, seen: Evidence) -> Tensor:
        return self.engine.weigh(seen)

    @property
    def by_sample(self) -> bool:
        """Whether every sample has one weight."""
        return self.level in ("sample", "text")

    @property
    def remembers_elements(self) -> bool:
        """Whether there is a memory of every element, for which calls give `index=`."""
        return self.samples is not None and (self.by_sample or self.elements is not None)

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

        It is best at the end of training, and with `samples=` and `index=`, as each label is then
        compared with all recent predictions of its sample.
        """
        return self.noise.estimate(None if self.records is None else self.records.steady())

    def audit(
        self, classes: Sequence[str] | None = None, paths: Sequence[str] | None = None
    ) -> Ranking:
        """Rank the labels by how likely they are wrong; this needs `samples=` and `index=`.

        The `table` of the result has one row per sample, worst first; `wrong` is the estimated
        number of wrong labels (see `mentornet.audit.rank`). With `elements=` it has one row per
        element, with its `sample` and its `place` in it.

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
        rate = places = None
        if self.remembers_elements:
            classes = self.form.names_of(classes, self.records.given_label)
            rate = self.noise_estimate().rate if self.noise.knows_wrong else None
        if self.elements is not None:
            places = self.elements.places
        return rank(self.records, classes=classes, noise_rate=rate, paths=paths, places=places)

    def metrics(self) -> dict[str, float]:
        """Return metrics for a log; on an accelerator this synchronises with the device.

        They are the mean weight and the share of weights above ½ in the last batch, of labelled
        samples; ℓ_pt; noise rate; progress in percent; how many losses were NaN or infinite.
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
            index: the numbers of the samples, `(M,)`, at least 10, or with `elements=` those of the
                elements, as in the audit. If all their labels are correct, wrong labels are
                simulated: see `Lessons`.
            is_correct: whether the given label of each sample is correct, `(M,)`.
            true_label: the true label of each sample, `(M,)`, −1 where it is not known.
        """
        if self.samples is None:
            raise MentorNetError(
                "verdicts need the size of the training set: use MentorLoss(samples=N), and index= "
                "in each call"
            )
        verdicts = Verdicts.answers(index, is_correct, true_label)
        if not self.by_sample:
            verdicts = verdicts_on_elements(verdicts, self.elements, self.form)
        else:
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

    def _check(self, evidence: Evidence, width: int) -> None:
        check_index(evidence.index, len(evidence.losses) // width, self.samples)
        check_evidence(evidence, self.engine)
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

    def extra_repr(self) -> str:
        name = AUTO if self.engine.auto is not None else self.engine.rule.name
        return f"mentor={name!r}, total_steps={self.total_steps}, samples={self.samples}"


def _count_on(module: Any, _: Any) -> None:
    module._calls = int(module.engine.step)
