"""The drop-in: where `nn.CrossEntropyLoss()` stood, a loss that knows whom to trust."""

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
from mentornet.precision import HALF, full_precision
from mentornet.records import Records
from mentornet.verdicts import Verdicts
from mentornet.weighting.auto import AutoPercentile
from mentornet.weighting.checks import (
    as_shares,
    can_look,
    check_index,
    check_known,
    check_labels,
    check_numbers,
    check_one_each,
    whole_number,
)
from mentornet.weighting.data_driven import DataDriven
from mentornet.weighting.noise_rate import NoiseEstimate, NoiseRate
from mentornet.weighting.per_sample import Judged, judge, one_each, weighted_nll
from mentornet.weighting.relearning import Relearning, check_updates
from mentornet.weighting.rules import AUTO, find_rule
from mentornet.weighting.seen import Seen, processes_here
from mentornet.weighting.spade import Spade, SpadeConfig, history_of, weighted_mean
from mentornet.weighting.weight_decay import TALLY

if TYPE_CHECKING:
    from mentornet.audit.ranking import Ranking

__all__ = ["MentorLoss"]

_AVERAGED = 0.1  # share of training that the noise rate is averaged over
_SETTLED = 0.1  # share of training before which the student knows too little to judge labels
_CLEAR = 0.1  # share of labels that may look wrong without surely being it


class MentorLoss(nn.Module):
    """(1/B) Σ v ℓ with the weights v of a mentor (Eq. 1, Algorithm 1), for any training loop.

    Put it where `nn.CrossEntropyLoss()` is. Each call in training mode is one step of SPADE; in
    eval mode, and under `torch.no_grad()`, it is the plain loss and changes nothing. The state
    is in `state_dict`, so a run that is saved with it and restored goes on bit for bit. At its
    first call it goes to the device of the losses; its own numbers are float32 or float64.

    With "auto", the default, no noise rate has to be known: the share ε of wrong labels is
    estimated as training goes (see `NoiseRate`), and the weights are those of the paper's
    predefined curriculum around the percentile 1 − 1.2 ε of the losses (see `AutoPercentile`), with
    no class left out as a whole (see `FairPercentile`). The student needs some training before its
    losses say anything, so nothing is left out until burn-in ends; or, from a tenth of training
    on, until wrong labels stand out clearly.

    Args:
        mentor: "auto"; "uniform" for v = 1; a name that ships ("pd", "dd-cifar10-40", …); a
            folder; a `Mentor` or a `Curriculum`.
        total_steps: how often it will be called in training: epochs × batches, gradient
            accumulation counted call by call. Progress is measured by it.
        burn_in: share of training before the mentor is listened to, with "auto" at the latest; 0
            for none.
        samples: N, the size of the training set, if calls name their samples by `index=`: for
            mentors that look back, explicit G, verified samples, and records of every sample.
        by_class: K, to compare each sample with its own class, so that rare classes are not
            starved; see `ClassPercentile`.
        percentile: p of ℓ_pt, in [0, 1], by default 0.75; not for "auto", which finds its own.
        burn_in_drop: share of samples that burn-in leaves out at random, so that fewer labels are
            learned by heart meanwhile; by default half. "auto" leaves out none.
        explicit: a projected gradient step on stored weights (Algorithm 1, step 9); the mentor
            is then a `Curriculum` of known G.
        clean_index: samples whose labels are known to be right; a mentor is learned from them as
            training goes. See `learn_from` for samples of both kinds.
        updates: when it is (re-)learned, as shares of training; the paper's are 0.21 and 0.75.
        label_smoothing: as in `nn.CrossEntropyLoss`; the mentor sees the plain losses.
        class_weight: `weight` of `nn.CrossEntropyLoss`, `(K,)`; the same holds.
        seed: of all draws.

    >>> criterion = MentorLoss(total_steps=1000)
    >>> logits = torch.tensor([[4.0, 0.0], [0.0, 3.0]], requires_grad=True)
    >>> loss = criterion(logits, torch.tensor([0, 0]))
    >>> loss.backward()
    >>> criterion.weights  # burn-in
    tensor([1., 1.])
    """

    class_weight: Tensor | None
    tally: Tensor
    settled: Tensor
    bad_samples: Tensor

    def __init__(
        self,
        mentor: str | Path | Mentor | Curriculum = AUTO,
        total_steps: int | None = None,
        burn_in: float = 0.2,
        *,
        samples: int | None = None,
        by_class: int | None = None,
        percentile: float | None = None,
        burn_in_drop: float | None = None,
        explicit: bool = False,
        clean_index: Sequence[int] | Tensor | None = None,
        updates: tuple[float, ...] = (0.21, 0.75),
        label_smoothing: float = 0.0,
        class_weight: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if total_steps is None:
            raise MentorNetError(
                "total_steps is missing: how often will the loss be called in training? "
                "Usually epochs * len(loader)"
            )
        total_steps = whole_number("total_steps", total_steps, least=1)
        if samples is not None:
            samples = whole_number("samples", samples, least=1)
        if class_weight is not None and not isinstance(class_weight, Tensor):
            kind = type(class_weight).__name__
            raise MentorNetError(f"class_weight must be a tensor (K,), got {kind}")
        check_updates(updates)
        if not 0 <= label_smoothing <= 1:
            raise MentorNetError(f"label_smoothing must be in [0, 1], got {label_smoothing:g}")
        self.auto = AutoPercentile() if isinstance(mentor, str) and mentor == AUTO else None
        if self.auto is not None and percentile is not None:
            raise MentorNetError(
                f"mentor 'auto' finds its own percentile, got percentile={percentile:g}; "
                "leave it out, or take mentor='pd'"
            )
        percentile = SpadeConfig.percentile if percentile is None else percentile
        self.samples, self.by_class = samples, by_class
        self.updates, self.seed = updates, seed
        self.label_smoothing = label_smoothing
        self.register_buffer("class_weight", class_weight, persistent=False)
        self.spade = Spade(
            find_rule(mentor), total_steps=total_steps, count=samples, explicit=explicit,
            config=self._pace(percentile, burn_in, burn_in_drop),
            by_class=by_class, fair=self.auto is not None, seed=seed,
        )  # fmt: skip
        self._predefined = (self.spade.rule,)
        self._burn_in = burn_in * total_steps
        self._earliest = _SETTLED * total_steps
        self.noise = NoiseRate(_AVERAGED * total_steps)
        self.records = None if samples is None else Records(samples, labels=True)
        self.learning: Relearning | None = None
        self.weights = torch.ones(0)
        self._unlabelled: Tensor | None = None
        self._even = EvenBatches()
        self.register_buffer("settled", torch.tensor(False))
        self.register_buffer("bad_samples", torch.zeros((), dtype=torch.long))
        self.register_buffer("tally", torch.zeros(2, dtype=torch.long), persistent=False)
        self._calls = 0
        self.register_load_state_dict_post_hook(_count_on)
        if clean_index is not None:
            index = torch.as_tensor(clean_index)
            self._learn(Verdicts(index.long(), torch.ones(len(index)).bool()), plays_wrong=True)

    def _pace(self, percentile: float, burn_in: float, drop: float | None) -> SpadeConfig:
        if self.auto is None:
            drop = SpadeConfig.burn_in_drop if drop is None else drop
            return SpadeConfig(percentile, burn_in=burn_in, burn_in_drop=drop)
        if drop:
            raise MentorNetError(f"mentor 'auto' drops no samples, got burn_in_drop={drop:g}")
        SpadeConfig(burn_in=burn_in)  # says so if it is no share
        return SpadeConfig(percentile, burn_in=0.0)

    # The two forms.

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
                places that have none, and a sample's loss is the mean over its other places.
            index: which training samples these are, `(B,)`; needed with `samples=`.
            losses: your own loss in place of logits, unreduced: `(B,)`, or `(B, …)`, of which the
                mean over all but the first axis is taken. Labels are then needed for `by_class`
                only.
        """
        if losses is not None and logits is None:
            return self._of_losses(losses, labels, index)
        if logits is None or losses is not None:
            raise MentorNetError("give logits and labels, or losses=, one of the two")
        if labels is None:
            raise MentorNetError("labels are missing: criterion(logits, labels)")
        check_labels(logits, labels)
        if not self._learns:
            if self.class_weight is not None and logits.dtype in HALF:
                logits = logits.float()
            return F.cross_entropy(
                logits, labels, self.class_weight, label_smoothing=self.label_smoothing
            )
        first = processes_here().place(len(labels))[0].start
        judged = judge(logits, labels, seed=self.seed, step=self.spade.step, first=first)
        if labels.ndim > 1 and self.by_class is not None:
            raise MentorNetError("by_class needs one label a sample, got an image of labels")
        label = labels if labels.ndim == 1 else torch.zeros_like(judged.predicted)
        seen = Seen(judged.losses, label, judged.predicted, index, judged.wrong, self._kept(judged))
        weights = self._step(replace(seen, unlabelled=judged.unlabelled))
        return weighted_nll(
            judged.log_p, labels, weights,
            smoothing=self.label_smoothing, class_weight=self.class_weight,
        )  # fmt: skip

    def _of_losses(self, losses: Tensor, labels: Tensor | None, index: Tensor | None) -> Tensor:
        each = one_each(losses)
        if not self._learns:
            return each.mean()
        weights = self.weigh(each, labels, index=index)
        return weighted_mean(weights, each.masked_fill(~each.detach().isfinite(), 0.0))

    def weigh(
        self,
        losses: Tensor,
        labels: Tensor | None = None,
        *,
        index: Tensor | None = None,
        logits: Tensor | None = None,
        whole: int | None = None,
    ) -> Tensor:
        """The weights v alone, `(B,)`, for a loop that sums up by itself; counts as one step.

        In eval mode they are 1 and nothing changes.

        Args:
            losses: ℓ, `(B,)` or `(B, …)`, as for `forward`.
            labels: the given labels, `(B,)`.
            index: which training samples these are, `(B,)`.
            logits: `(B, K)`, from which the noise rate is estimated better than from losses
                alone; they need labels.
            whole: in a run of several processes that share out batches like `Processes.share`, the
                size of the batch over all of them; without it they must have as many samples each.
        """
        losses = one_each(losses).detach()
        if losses.dtype in HALF:
            losses = losses.float()
        if not self.training:
            return torch.ones_like(losses)
        if labels is None:
            rule = self.spade.rule
            if self.by_class or (isinstance(rule, Mentor) and rule.config.use_label):
                reader = "by_class" if self.by_class else "this mentor"
                raise MentorNetError(f"labels are missing: {reader} reads them")
            labels = torch.zeros(len(losses), dtype=torch.long, device=losses.device)
        else:
            check_one_each(losses, labels)
        losses = losses.masked_fill(~losses.isfinite(), torch.nan)
        if logits is None:
            return self._step(Seen(losses, labels, torch.full_like(labels, -1), index), whole)
        check_labels(logits, labels)
        first = processes_here().place(len(labels), whole)[0].start
        judged = judge(logits.detach(), labels, seed=self.seed, step=self.spade.step, first=first)
        seen = Seen(losses, labels, judged.predicted, index, judged.wrong, self._kept(judged))
        return self._step(seen, whole)

    def _kept(self, judged: Judged) -> Tensor | None:
        """The margins, if they are recorded."""
        return None if self.records is None else judged.margins

    def _step(self, seen: Seen, whole: int | None = None) -> Tensor:
        """One step of SPADE, on the samples of all processes where several train together."""
        self._check(seen)
        self._unlabelled = seen.unlabelled
        processes = processes_here()
        if processes.alone:
            self.weights = self._weigh(seen)
            return self.weights
        mine, count = processes.place(len(seen.losses), whole)
        if whole is None:
            look = can_look(seen.losses)
            seen = seen.with_columns(self._even.gather(processes, seen.columns, look=look))
        else:
            seen = seen.with_columns(processes.gather(seen.columns, count))
        self.weights = self._weigh(seen)[mine]
        return self.weights

    def _weigh(self, seen: Seen) -> Tensor:
        """The weights of all of them, `(B,)`, in full precision also under autocast."""
        with full_precision(seen.losses.device):
            return self._weighed(seen)

    def _weighed(self, seen: Seen) -> Tensor:
        losses, labels, index, wrong = seen.losses, seen.labels, seen.index, seen.wrong
        spade, auto, measured = self.spade, self.auto, losses
        if auto is not None and wrong is None:
            measured = auto.measured(losses)
        begun, settled = spade.step >= self._burn_in, self._settle()
        self.noise.update(measured, wrong, settled=settled)
        percentile = None
        if auto is not None:
            percentile = auto(self.noise.cautious, self.noise.sure, settled=settled)
        if self.learning is not None and not torch.compiler.is_compiling():
            self.learning.learn_if_due(self.noise.rate.item() if self._plays_wrong else None)
        progress = spade.progress
        features = spade.features(measured, labels, index, percentile=percentile)
        if self.learning is not None and index is not None:
            self.learning.observe(features, index, wrong)
        weights = spade.weigh_features(features, index)
        if isinstance(spade.rule, Curriculum):
            weights = as_shares(weights, losses, f"mentor {spade.rule.name!r}")
        full = (~losses.isnan()).to(weights.dtype)
        if auto is not None:
            weights = lasting = torch.where(settled, weights, full)
        else:
            lasting = torch.where(begun, weights, full)  # burn-in's dice say nothing
        if self.records is not None and index is not None:
            self.records.add(index, losses, lasting, seen.predicted, labels, progress, seen.margins)
        self._count(seen, weights)
        return weights

    def _settle(self) -> Tensor:
        """Whether the student has learned enough to judge labels, a boolean scalar; it stays so.

        It has when burn-in is over, and before, from a tenth of training on, if what looks wrong
        is what surely is: then nothing is left but to learn wrong labels by heart.
        """
        step, noise = self.spade.step, self.noise
        clear = noise.knows_wrong & (noise.rate - noise.sure < _CLEAR) & (step >= self._earliest)
        self.settled = self.settled | clear | (step >= max(self._burn_in, self._earliest))
        return self.settled

    def _count(self, seen: Seen, weights: Tensor) -> None:
        """What `figures` and `scale_weight_decay` tell."""
        self.bad_samples = self.bad_samples + seen.bad.sum()
        mean = weights.mean()
        if seen.unlabelled is not None:
            labelled = (~seen.unlabelled).to(weights.dtype)
            mean = (weights * labelled).sum() / labelled.sum().clamp(min=1)
        mean = (mean * TALLY).round().long()
        self.tally = self.tally + torch.stack([mean, torch.ones_like(mean)])

    # What it knows.

    def noise_estimate(self) -> NoiseEstimate:
        """The share of wrong labels as it looks by now, with an interval and what it assumes.

        It can be asked under any mentor; best at the end of training. It is best where `samples=`
        and `index=` are given, as then each label can be judged by all predictions of late.
        """
        return self.noise.estimate(None if self.records is None else self.records.steady())

    def audit(self, classes: Sequence[str] | None = None) -> Ranking:
        """Which labels are wrong, from all that was seen so far; needs `samples=` and `index=`.

        `.table` of what it returns has a row a sample, worst first; `.wrong` says how many there
        are (see `mentornet.audit.rank`).

        Args:
            classes: their names.
        """
        from mentornet.audit.ranking import rank  # needs pandas for its tables only

        if self.records is None:
            raise MentorNetError(
                "the audit needs records of every sample: give samples= (how many there are) when "
                "you make the criterion, and index= in every step"
            )
        rate = self.noise_estimate().rate if self.noise.knows_wrong else None
        return rank(self.records, classes=classes, noise_rate=rate)

    def figures(self) -> dict[str, float]:
        """What is worth a line in the log; on an accelerator this waits, so not at every step.

        Mean weight and share of samples used (v > ½) in the last batch, of those that have a label;
        ℓ_pt, the noise rate, progress in percent, and how many samples so far had logits that are
        no numbers.
        """
        weights = self.weights if self._unlabelled is None else self.weights[~self._unlabelled]
        if len(weights) == 0:
            weights = torch.ones(1)
        return {
            "mean_weight": weights.mean().item(),
            "data_used": (weights > 0.5).float().mean().item(),
            "loss_percentile": self.spade.level.value.item(),
            "noise_rate": self.noise.rate.item(),
            "progress": float(self.spade.epoch),
            "bad_samples": float(self.bad_samples.item()),
        }

    # A mentor of your own.

    def learn_from(
        self, index: Sequence[int] | Tensor, is_correct: Sequence[bool] | Tensor
    ) -> None:
        """Learn the mentor from samples that somebody has looked at (MentorNet DD).

        It is learned at `updates` from the losses that the student has on them, and used if it
        judges those held out better than the mentor of the constructor, which serves until then.
        `notes` tells. The samples are trained on like all others, and keep the labels that were
        judged. To restore such a criterion, call this with the same samples before
        `load_state_dict`.

        Args:
            index: which samples were verified, `(M,)`, at least 10; of both kinds, or wrong ones
                are played as for `clean_index`.
            is_correct: whether the given label of each is right, `(M,)`.
        """
        verified = Verdicts(torch.as_tensor(index).long(), torch.as_tensor(is_correct))
        self._learn(verified, plays_wrong=bool(verified.is_correct.all()))

    def learn_if_due(self) -> bool:
        """Learn if it is time, and say so; loops that compile the criterion call this."""
        if self.learning is None:
            return False
        self.learning.steps = int(self.spade.step)
        return self.learning.learn_if_due(self.noise.rate.item())

    @property
    def notes(self) -> list[str]:
        """What came of each lesson so far."""
        return [] if self.learning is None else list(self.learning.notes)

    @property
    def _plays_wrong(self) -> bool:
        return self.learning is not None and self.learning.lessons.plays_wrong

    def _learn(self, verified: Verdicts, *, plays_wrong: bool) -> None:
        if self.samples is None:
            raise MentorNetError(
                "verified samples need the size of the training set: MentorLoss(samples=N), and "
                "index= at each call"
            )
        if self.spade.stored is not None:
            raise MentorNetError("explicit SPADE has no mentor that could learn from samples")
        predefined = self._predefined[0]
        self.spade.use(predefined)
        lessons = DataDriven(
            verified, count=self.samples, predefined=predefined, classes=1,
            history=history_of(predefined), plays_wrong=plays_wrong, seed=self.seed,
        )  # fmt: skip
        self.learning = Relearning(self.spade, lessons, self.updates)
        self.learning.to(self.spade.step.device)

    # The door.

    @property
    def _learns(self) -> bool:
        return self.training and torch.is_grad_enabled()

    def _apply(self, fn: Any, recurse: bool = True) -> MentorLoss:
        """Go along, but never below float32: percentiles and weights are not for half precision."""

        def not_halved(part: Tensor) -> Tensor:
            moved: Tensor = fn(part)
            return part.to(moved.device) if moved.dtype in HALF else moved

        super()._apply(not_halved, recurse)
        return self

    def _check(self, seen: Seen) -> None:
        losses, labels = seen.losses, seen.labels
        check_index(seen.index, len(losses), self.samples)
        if self._plays_wrong and seen.wrong is None:
            raise MentorNetError(
                "to learn from right labels only, wrong ones are played by other classes: give "
                "logits (B, K), not losses, or verify wrong labels too (learn_from)"
            )
        if self.by_class is not None:
            check_known(labels, self.by_class, "by_class")
        rule = self.spade.rule
        if isinstance(rule, Mentor) and rule.config.use_label:
            check_known(labels, rule.config.num_classes, "this mentor")
        if torch.compiler.is_compiling():
            return
        if self._calls == self.spade.total_steps:
            warnings.warn(
                f"MentorLoss was told of {self.spade.total_steps} steps and goes on at progress "
                "99; total_steps is epochs * len(loader)",
                stacklevel=4,
            )
        self._calls += 1
        if losses.device != self.spade.step.device:
            self.to(losses.device)
        check_numbers(losses, seen.bad, self.spade.step, first=self.bad_samples == 0)

    def extra_repr(self) -> str:
        rule = self.spade.rule
        name = rule.name if self.auto is None else AUTO
        return f"mentor={name!r}, total_steps={self.spade.total_steps}, samples={self.samples}"


def _count_on(module: nn.Module, _: Any) -> None:
    assert isinstance(module, MentorLoss)
    module._calls = int(module.spade.step)
