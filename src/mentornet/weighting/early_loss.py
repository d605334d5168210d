"""`EarlyLoss`: a loss that replaces `nn.CrossEntropyLoss()` where every sample has a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.precision import full_precision
from mentornet.verdicts import Verdicts
from mentornet.weighting.checks import check_index
from mentornet.weighting.criterion import Criterion
from mentornet.weighting.early import EarlyConfig, EarlyJudge
from mentornet.weighting.engine import weighted_mean
from mentornet.weighting.evidence import Evidence
from mentornet.weighting.noise_rate import NoiseEstimate
from mentornet.weighting.observing import labelled_mean

__all__ = ["EarlyLoss"]

_ASSUMES = "the student is right where it is surest"
_SHOWN = "labels without a verdict are as often wrong as verdicts show of those that look alike"


class EarlyLoss(Criterion):
    """Weights by what the student itself finds early, in any training loop.

    It is the method mentornet-early, which `mentornet train` uses by default; see `weighting.early`
    for the formulas. With images, add `second_look` to learn from rejected ones, too. Compared with
    `MentorLoss` it needs the number of every sample and K predictions in memory for each, and gains
    most where labels are confused in a systematic way. Nothing need be known of the noise.

    Each call in training mode is one step. Labels are judged once every N samples. In eval mode,
    and under `torch.no_grad()`, it is the plain cross-entropy and changes nothing. Its state is in
    `state_dict`.

    Args:
        total_steps: how often the loss will be called in training: epochs × batches.
        samples: N, the size of the training set.
        classes: K.
        config: see `EarlyConfig`.
        seed: seed of all random draws.

    >>> criterion = EarlyLoss(total_steps=1000, samples=2, classes=2)
    >>> logits = torch.tensor([[4.0, 0.0], [0.0, 3.0]], requires_grad=True)
    >>> loss = criterion(logits, torch.tensor([0, 0]), index=torch.tensor([0, 1]))
    >>> loss.backward()
    >>> criterion.weights
    tensor([1., 1.])
    """

    def __init__(
        self,
        total_steps: int | None = None,
        *,
        samples: int | None = None,
        classes: int | None = None,
        config: EarlyConfig | None = None,
        seed: int = 0,
    ) -> None:
        if samples is None or classes is None or classes < 2:
            raise MentorNetError(
                "EarlyLoss remembers predictions of every sample: give samples=, the size of the "
                f"training set, and classes=, at least 2; got {samples} and {classes}"
            )
        super().__init__(
            "uniform", total_steps, None, samples=samples, by_class=None, percentile=None,
            burn_in_drop=0.0, explicit=False, updates=None, seed=seed, level="sample",
            elements=None,
        )  # fmt: skip
        self.judge = EarlyJudge(samples, classes, config)
        self.classes, self._since = classes, 0
        self.register_load_state_dict_post_hook(_restored)

    def forward(self, logits: Tensor, labels: Tensor, *, index: Tensor | None = None) -> Tensor:
        """Return the loss of a batch, a scalar.

        Args:
            logits: `(B, K)`.
            labels: the given labels, `(B,)`, int64; −100 marks what has no label.
            index: the numbers of these samples in the training set, `(B,)`.
        """
        logits, labels = self.form.arranged(logits, labels)
        if not (self.training and torch.is_grad_enabled()):
            return self.form.plain(logits, labels, 0.0, None)
        if labels.ndim != 1 or logits.shape[1] != self.classes:
            raise MentorNetError(
                f"logits must be (B, {self.classes}) and labels (B,), got {tuple(logits.shape)} "
                f"and {tuple(labels.shape)}"
            )
        evidence, log_p = self.form.observe(
            logits, labels, index, self.engine, width=1, margins=True
        )
        if not torch.compiler.is_compiling() and self._since >= len(self.judge.given):
            self.judge_labels()
        evidence = replace(evidence, probabilities=log_p.detach().exp())
        weighed = self._weigh(evidence, labels)
        with full_precision(log_p.device):
            assert index is not None
            known = self.engine.known
            taught = labels if known is None else known.correct(labels, index)
            losses = self.judge.losses(log_p, taught.clamp(min=0), index)
            losses = losses.masked_fill(evidence.losses.isnan(), 0.0)
            if weighed.unlabelled is None:
                return weighed.in_balance(weighted_mean(weighed.weights, losses))
            return weighed.in_balance(labelled_mean(weighed.weights * losses, labels))

    def second_look(self, logits: Tensor, *, index: Tensor) -> Tensor:
        """Return the loss of samples whose label is rejected on a second view, to be added.

        It teaches (1/B) Σ w −log p(k), where k is the class that the student was sure of, and w is
        0 for all other samples. So it is 0 until burn-in ends, and in eval mode. The views should
        be harder to recognise than the first ones, or the student only confirms itself.

        Args:
            logits: of second views of these samples, `(B, K)`.
            index: the numbers of these samples, `(B,)`.
        """
        count = len(self.judge.given)
        check_index(index, len(logits), count)
        if logits.ndim != 2 or logits.shape[1] != self.classes:
            raise MentorNetError(f"logits must be (B, {self.classes}), got {tuple(logits.shape)}")
        if not (self.training and torch.is_grad_enabled()):
            return logits.new_zeros(())
        index = index.to(self.judge.belief.device)
        believed, weight = self.judge.believed[index].long(), self.judge.belief[index]
        each = nn.functional.cross_entropy(
            logits.float(), believed.to(logits.device), reduction="none"
        )
        return (weight.to(each) * each).mean()

    def weigh(self, *arguments: Any, **named: Any) -> Tensor:  # noqa: ARG002
        """Raise: weights without the second term of the loss would not be this method."""
        raise MentorNetError(
            "EarlyLoss gives no weights for losses of your own: call criterion(logits, labels, "
            "index=index), or use MentorLoss"
        )

    def learn_from(
        self,
        index: Sequence[int] | Tensor,
        is_correct: Sequence[bool] | Tensor,
        true_label: Sequence[int] | Tensor | None = None,
    ) -> None:
        """Learn from samples that a person has verified, before the first step.

        They correct the estimated share of wrong labels, and show which classes are taken for which
        (see `weighting.early`). From the end of burn-in on, the student is taught them: a correct
        label has weight 1, a wrong one 0, and where the true label is known, it replaces the given
        one. To restore such a criterion, call this method with the same samples before
        `load_state_dict`.

        Args:
            index: the numbers of the samples, `(M,)`, at least 10.
            is_correct: whether the given label of each sample is correct, `(M,)`.
            true_label: the true label of each sample, `(M,)`, −1 where it is not known.
        """
        found = Verdicts.answers(index, is_correct, true_label)
        found.check(len(self.judge.given))
        odd = (found.true_label < -1) | (found.true_label >= self.classes)
        if odd.any():
            raise MentorNetError(
                f"true_label must be in 0–{self.classes - 1}, or −1 where it is not known, got "
                f"{int(found.true_label[odd][0])}"
            )
        if int(self.engine.step):
            raise MentorNetError(
                "call learn_from before the first step, and before load_state_dict"
            )
        nowhere = found.true_label.masked_fill(found.is_correct, -1)  # it is the given label
        self.judge.verdicts = Verdicts(found.index, found.is_correct, nowhere)

    def judge_labels(self) -> None:
        """Judge the labels now; call it once an epoch if this is compiled."""
        self._since = 0
        self.judge.judge(int(self.engine.step) / self.total_steps)
        self.engine.known = self.judge.known

    def noise_estimate(self) -> NoiseEstimate:
        """Return the estimated share of wrong labels, as `MentorLoss.noise_estimate`.

        The rate is ε̂ of the judge, once labels were judged; see `weighting.early`.
        """
        rate = float(self.judge.rate)
        if math.isnan(rate):  # nothing is judged yet
            return super().noise_estimate()
        if self.judge.is_checked:
            unsure = 2 * self.judge.uncertainty
            return NoiseEstimate(rate, max(0.0, rate - unsure), min(1.0, rate + unsure), _SHOWN)
        return NoiseEstimate.around(rate, len(self.judge.given), _ASSUMES)

    def _apply(self, fn: Any, recurse: bool = True) -> EarlyLoss:
        """Move the look-up of verdicts together with this module."""
        super()._apply(fn, recurse)
        if self.engine.known is not None:
            self.engine.known = self.judge.known
        return self

    def get_extra_state(self) -> Tensor:
        """Return how many samples were seen since labels were judged."""
        return torch.tensor(self._since)

    def set_extra_state(self, state: Any) -> None:
        self._since = int(state)

    def _weights_of(self, seen: Evidence) -> Tensor:
        self.engine.weigh(seen)
        if not torch.compiler.is_compiling():
            self._since += len(seen.losses)
        weights, known = self.judge.see(seen), self.engine.known
        if known is None:
            return weights
        assert seen.index is not None
        return known.weigh(weights, seen.index)


def _restored(criterion: EarlyLoss, _: Any) -> None:
    """Teach the verdicts again after a state was loaded, if it was begun before."""
    judge = criterion.judge
    if judge.is_checked and judge.verdicts is None:
        raise MentorNetError(
            "this state has learned from verdicts: call learn_from with the same samples before "
            "load_state_dict"
        )
    criterion.engine.known = judge.known
