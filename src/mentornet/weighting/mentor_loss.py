"""The drop-in: a loss that takes the place of `nn.CrossEntropyLoss()` and weights its samples."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from mentornet.curricula import Curriculum
from mentornet.distributed import EvenBatches
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor
from mentornet.precision import HALF
from mentornet.records import Records
from mentornet.verdicts import Verdicts
from mentornet.weighting.checks import (
    as_shares,
    can_look,
    check_criterion,
    check_evidence,
    check_labels,
    check_numbers,
    check_one_each,
)
from mentornet.weighting.engine import Weighting, weighted_mean
from mentornet.weighting.evidence import Evidence, processes_here
from mentornet.weighting.noise_rate import NoiseEstimate, NoiseRate
from mentornet.weighting.observing import observe, one_each, weighted_nll
from mentornet.weighting.rules import AUTO, find_rule
from mentornet.weighting.settings import DATA_DRIVEN, LearningConfig, WeightingConfig
from mentornet.weighting.weight_decay import TALLY

if TYPE_CHECKING:
    from mentornet.audit.ranking import Ranking

__all__ = ["MentorLoss"]


class MentorLoss(nn.Module):
    """(1/B) Σ v ℓ with the weights v of a mentor (Eq. 1, Algorithm 1), for any training loop.

    Put it where `nn.CrossEntropyLoss()` is. Each call in training mode is one step of SPADE. In
    eval mode, and under `torch.no_grad()`, it is the plain loss and changes nothing. Its state is
    in `state_dict`, so a run that is saved with it and restored goes on bit for bit. At its first
    call it moves to the device of the losses; its own numbers are float32 or float64. The weights
    come from the same engine as those of `mentornet train` (`Weighting`).

    With "auto", the default, no noise rate has to be known. The share ε of wrong labels is
    estimated during training (see `NoiseRate`). The weights are those of the paper's predefined
    curriculum around the percentile 1 − 1.2 ε of the losses (see `AutoPercentile`), and no class is
    left out as a whole (see `FairLossLevel`). The losses of a student say little at first, so all
    weights are 1 until burn-in ends; or, from a tenth of training on, until wrong labels stand out.

    Args:
        mentor: "auto"; "uniform" for v = 1; the name of a mentor that ships ("pd", "dd-cifar10-40",
            …); a folder; a `Mentor` or a `Curriculum`.
        total_steps: how often it will be called in training: epochs × batches, where gradient
            accumulation counts every call. Progress is measured by it.
        burn_in: share of training before the mentor is used, by default 0.2, or 0.1 with verdicts.
            With "auto" the mentor may be used earlier. 0 switches burn-in off.
        samples: N, the size of the training set, if calls name their samples by `index=`. Mentors
            that look back, explicit G, verdicts and records of every sample need it.
        by_class: K, to compare each sample with its own class, so that rare classes are not
            starved; see `ClassLossLevel`.
        percentile: p of ℓ_pt, in [0, 1], by default 0.75. "auto" finds its own.
        burn_in_drop: share of samples that burn-in leaves out at random, so that fewer labels are
            learned by heart meanwhile; by default half. "auto" and learning from verdicts leave out
            none.
        explicit: take a projected gradient step on stored weights (Algorithm 1, step 9); the mentor
            is then a `Curriculum` of known G.
        clean_index: samples whose labels are known to be correct; a mentor is learned from them.
            See `learn_from` for samples of both kinds.
        updates: when a mentor is (re-)learned, as shares of training; by default every twentieth.
            The paper's are 0.21 and 0.75.
        label_smoothing: as in `nn.CrossEntropyLoss`; the mentor sees the plain losses.
        class_weight: `weight` of `nn.CrossEntropyLoss`, `(K,)`; the mentor sees the plain losses.
        seed: of all random draws.

    >>> criterion = MentorLoss(total_steps=1000)
    >>> logits = torch.tensor([[4.0, 0.0], [0.0, 3.0]], requires_grad=True)
    >>> loss = criterion(logits, torch.tensor([0, 0]))
    >>> loss.backward()
    >>> criterion.weights  # burn-in
    tensor([1., 1.])
    """

    class_weight: Tensor | None
    tally: Tensor
    bad_samples: Tensor

    def __init__(
        self,
        mentor: str | Path | Mentor | Curriculum = AUTO,
        total_steps: int | None = None,
        burn_in: float | None = None,
        *,
        samples: int | None = None,
        by_class: int | None = None,
        percentile: float | None = None,
        burn_in_drop: float | None = None,
        explicit: bool = False,
        clean_index: Sequence[int] | Tensor | None = None,
        updates: tuple[float, ...] | None = None,
        label_smoothing: float = 0.0,
        class_weight: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.is_auto = isinstance(mentor, str) and mentor == AUTO
        self.total_steps, self.samples = check_criterion(
            total_steps, samples, label_smoothing=label_smoothing, class_weight=class_weight,
            auto_percentile=percentile if self.is_auto else None,
            auto_drop=burn_in_drop if self.is_auto else None,
        )  # fmt: skip
        self.learning_config = LearningConfig() if updates is None else LearningConfig(updates)
        self.by_class, self.seed, self.label_smoothing = by_class, seed, label_smoothing
        given = {"percentile": percentile, "burn_in": burn_in, "burn_in_drop": burn_in_drop}
        self._given = {name: value for name, value in given.items() if value is not None}
        self._rule = (find_rule(mentor),)
        self.engine = self._make_engine(WeightingConfig(**self._given), self.is_auto, explicit)
        self.records = None if samples is None else Records(samples, labels=True)
        self.weights = torch.ones(0)
        self._unlabelled: Tensor | None = None
        self._even = EvenBatches()
        self.register_buffer("class_weight", class_weight, persistent=False)
        self.register_buffer("bad_samples", torch.zeros((), dtype=torch.long))
        self.register_buffer("tally", torch.zeros(2, dtype=torch.long), persistent=False)
        self._calls = 0
        self.register_load_state_dict_post_hook(_count_on)
        if clean_index is not None:
            self.learn_from(clean_index, torch.ones(len(clean_index)).bool())

    def _make_engine(
        self, config: WeightingConfig, auto: bool, explicit: bool = False
    ) -> Weighting:
        return Weighting(
            self._rule[0], total_steps=self.total_steps, count=self.samples, explicit=explicit,
            config=config, by_class=self.by_class, auto=auto, estimates_noise=True, seed=self.seed,
        )  # fmt: skip

    def forward(
        self,
        logits: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        index: Tensor | None = None,
        losses: Tensor | None = None,
    ) -> Tensor:
        """The weighted loss of a batch, a scalar.

        Args:
            logits: `(B, K)`, or `(B, K, …)` for images of labels.
            labels: the given labels, `(B,)` or `(B, …)`, int64. In images of labels −100 marks
                places without a label, and a sample's loss is the mean over its other places.
            index: the numbers of these samples in the training set, `(B,)`; needed with `samples=`.
            losses: your own loss in place of logits, unreduced: `(B,)`, or `(B, …)`, of which the
                mean over all but the first axis is taken. Labels are then needed for `by_class`
                only.
        """
        learns = self.training and torch.is_grad_enabled()
        if losses is not None and logits is None:
            each = one_each(losses)
            if not learns:
                return each.mean()
            weights = self.weigh(each, labels, index=index)
            return weighted_mean(weights, each.masked_fill(~each.detach().isfinite(), 0.0))
        if logits is None or losses is not None:
            raise MentorNetError("give logits and labels, or losses=, one of the two")
        if labels is None:
            raise MentorNetError("labels are missing: criterion(logits, labels)")
        check_labels(logits, labels)
        if not learns:
            if self.class_weight is not None and logits.dtype in HALF:
                logits = logits.float()
            return F.cross_entropy(
                logits, labels, self.class_weight, label_smoothing=self.label_smoothing
            )
        first = processes_here().place(len(labels))[0].start
        seen = observe(logits, labels, seed=self.seed, step=self.engine.step, first=first)
        if labels.ndim > 1 and self.by_class is not None:
            raise MentorNetError("by_class needs one label a sample, got an image of labels")
        label = labels if labels.ndim == 1 else torch.zeros_like(seen.predicted)
        margins = None if self.records is None else seen.margins
        weights = self._weigh(
            Evidence(
                seen.losses, label, seen.predicted, index, seen.wrong, margins, seen.unlabelled
            )
        )
        if self.engine.known is not None and labels.ndim == 1 and index is not None:
            labels = self.engine.known.correct(labels, index)
        return weighted_nll(
            seen.log_p, labels, weights,
            smoothing=self.label_smoothing, class_weight=self.class_weight,
        )  # fmt: skip

    def weigh(
        self,
        losses: Tensor,
        labels: Tensor | None = None,
        *,
        index: Tensor | None = None,
        logits: Tensor | None = None,
    ) -> Tensor:
        """The weights v alone, `(B,)`, for a loop that reduces by itself; counts as one step.

        In eval mode they are 1 and nothing changes.

        Args:
            losses: ℓ, `(B,)` or `(B, …)`, as for `forward`.
            labels: the given labels, `(B,)`.
            index: the numbers of these samples in the training set, `(B,)`.
            logits: `(B, K)`, from which the noise rate is estimated better than from losses alone;
                they need labels.
        """
        losses = one_each(losses).detach()
        if losses.dtype in HALF:
            losses = losses.float()
        if not self.training:
            return torch.ones_like(losses)
        if labels is None:
            rule = self.engine.rule
            if self.by_class or (isinstance(rule, Mentor) and rule.config.use_label):
                reader = "by_class" if self.by_class else "this mentor"
                raise MentorNetError(f"labels are missing: {reader} reads them")
            labels = torch.zeros(len(losses), dtype=torch.long, device=losses.device)
        else:
            check_one_each(losses, labels)
        losses = losses.masked_fill(~losses.isfinite(), torch.nan)
        if logits is None:
            return self._weigh(Evidence(losses, labels, torch.full_like(labels, -1), index))
        check_labels(logits, labels)
        first = processes_here().place(len(labels))[0].start
        seen = observe(logits.detach(), labels, seed=self.seed, step=self.engine.step, first=first)
        margins = None if self.records is None else seen.margins
        return self._weigh(Evidence(losses, labels, seen.predicted, index, seen.wrong, margins))

    def _weigh(self, evidence: Evidence) -> Tensor:
        """The weights of our own samples, from the evidence of all processes; one exchange."""
        self._check(evidence)
        self._unlabelled = evidence.unlabelled
        processes, mine = processes_here(), slice(None)
        if not processes.alone:
            mine, _ = processes.place(len(evidence.losses))
            look = can_look(evidence.losses)
            gathered = self._even.gather(processes, evidence.columns, look=look)
            evidence = evidence.with_columns(gathered)
        engine, losses = self.engine, evidence.losses
        begun, progress = engine.step >= engine.config.burn_in * self.total_steps, engine.progress
        weights = engine.weigh(evidence)
        if isinstance(engine.rule, Curriculum):
            weights = as_shares(weights, losses, f"mentor {engine.rule.name!r}")
        if self.records is not None and evidence.index is not None:
            trust = weights if engine.known is None else engine.known.trust(weights, evidence.index)
            if engine.auto is None:  # the random draws of burn-in say nothing of a label
                trust = torch.where(begun, trust, (~losses.isnan()).to(trust.dtype))
            self.records.add(
                evidence.index, losses, trust, evidence.predicted, evidence.labels, progress,
                evidence.margins,
            )  # fmt: skip
        self._count(evidence, weights)
        self.weights = weights[mine]
        return self.weights

    def _count(self, evidence: Evidence, weights: Tensor) -> None:
        """Keep what `metrics` and `scale_weight_decay` tell."""
        self.bad_samples = self.bad_samples + evidence.bad.sum()
        mean = weights.mean()
        if evidence.unlabelled is not None:
            labelled = (~evidence.unlabelled).to(weights.dtype)
            mean = (weights * labelled).sum() / labelled.sum().clamp(min=1)
        mean = (mean * TALLY).round().long()
        self.tally = self.tally + torch.stack([mean, torch.ones_like(mean)])

    @property
    def noise(self) -> NoiseRate:
        """The running estimate of the noise rate."""
        assert self.engine.noise is not None
        return self.engine.noise

    def noise_estimate(self) -> NoiseEstimate:
        """The estimated share of wrong labels so far, with an interval and what it assumes.

        It works with any mentor, and best at the end of training. It is best with `samples=` and
        `index=`, because each label is then compared with all recent predictions for its sample.
        """
        return self.noise.estimate(None if self.records is None else self.records.steady())

    def audit(self, classes: Sequence[str] | None = None) -> Ranking:
        """Which labels are wrong, from all that was seen so far; needs `samples=` and `index=`.

        The `table` of the result has a row a sample, worst first; `wrong` says how many labels are
        wrong (see `mentornet.audit.rank`).

        Args:
            classes: their names.
        """
        from mentornet.audit.ranking import rank  # the audit lies above; it needs pandas

        if self.records is None:
            raise MentorNetError(
                "the audit needs records of every sample: give samples= (how many there are) when "
                "you make the criterion, and index= in every step"
            )
        rate = self.noise_estimate().rate if self.noise.knows_wrong else None
        return rank(self.records, classes=classes, noise_rate=rate)

    def metrics(self) -> dict[str, float]:
        """Numbers for a log; on an accelerator this waits for the device.

        They are the mean weight and the share of samples used (v > ½) in the last batch, of those
        that have a label; ℓ_pt; the noise rate; progress in percent; and the number of samples so
        far whose loss was not a number.
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
            "bad_samples": float(self.bad_samples.item()),
        }

    def learn_from(
        self,
        index: Sequence[int] | Tensor,
        is_correct: Sequence[bool] | Tensor,
        true_label: Sequence[int] | Tensor | None = None,
    ) -> None:
        """Learn the mentor from samples that somebody has looked at, as `mentornet-dd` does.

        It is learned at `updates` from the losses that the student has on them. It is used if it
        does better on those held out than the mentor of the constructor ("pd" for "auto"), which
        serves until then; `notes` tells. What is known of these samples is taught: a correct label
        has weight 1 and a wrong one 0, and where the true label is known the student learns that.
        To restore such a criterion, call this with the same samples before `load_state_dict`.

        Args:
            index: the numbers of the samples, `(M,)`, at least 10. If all their labels are correct,
                wrong ones are played: see `Lessons`.
            is_correct: whether the given label of each is correct, `(M,)`.
            true_label: the true label of each, `(M,)`, −1 where it is not known.
        """
        if self.samples is None:
            raise MentorNetError(
                "verdicts need the size of the training set: MentorLoss(samples=N), and index= at "
                "each call"
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
        self.engine.step = before.step.clone()
        self.engine.to(before.step.device)
        self.engine.learn_from(verdicts.to(before.step.device), 1, self.learning_config)

    def learn_if_due(self) -> bool:
        """Learn if it is time, and return whether it was; a loop that compiles this calls it."""
        if self.engine.learning is not None:
            self.engine.learning.steps = int(self.engine.step)
        return self.engine.learn_if_due()

    @property
    def notes(self) -> list[str]:
        """What came of each update of the mentor so far."""
        return [] if self.engine.learning is None else list(self.engine.learning.notes)

    def _check(self, evidence: Evidence) -> None:
        check_evidence(evidence, self.engine, self.samples, self.by_class)
        if torch.compiler.is_compiling():
            return
        if self._calls == self.total_steps:
            warnings.warn(
                f"MentorLoss was told of {self.total_steps} steps and goes on at progress 99; "
                "total_steps is epochs * len(loader)",
                stacklevel=4,
            )
        self._calls += 1
        if evidence.losses.device != self.engine.step.device:
            self.to(evidence.losses.device)
        check_numbers(evidence, self.engine.step, first=self.bad_samples == 0)

    def _apply(self, fn: Any, recurse: bool = True) -> MentorLoss:
        """Move along, but never below float32: levels and weights need full precision."""

        def not_halved(part: Tensor) -> Tensor:
            moved: Tensor = fn(part)
            return part.to(moved.device) if moved.dtype in HALF else moved

        super()._apply(not_halved, recurse)
        return self

    def extra_repr(self) -> str:
        name = AUTO if self.engine.auto is not None else self.engine.rule.name
        return f"mentor={name!r}, total_steps={self.total_steps}, samples={self.samples}"


def _count_on(module: nn.Module, _: Any) -> None:
    assert isinstance(module, MentorLoss)
    module._calls = int(module.engine.step)
