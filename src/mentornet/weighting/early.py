"""The weight of each sample, found before a student can have memorised wrong labels.

A student learns correct labels before it memorises wrong ones. So its predictions are averaged from
the first epoch on, and once an epoch Bayes' rule gives r(k), the probability of each true class
(see `anchored_posterior`). The student then minimises the mean of

    v [c(y) ℓ + λ' log(1 − ⟨p, b⟩)],   v = 1 − a (1 − r(y)).

a is 0 until burn-in ends and then rises to 1. How many labels look wrong depends on the time:
more than are wrong while the student knows little, ever fewer once it memorises. So the estimated
share ε̂ is the mean of what is found from the end of that rise to 0.4 of training, and from then on
r is made to agree with it (see `calibrated`). If hardly any label looks wrong, most that do are
only hard to learn. So a is also multiplied by min(1, ε̂/0.06)².

A class whose members were often labelled as another class would then count for too little. With
f(k) = Σ r(k) / Σ r(y), the latter over the samples with y = k, and scaled to keep the sum of all
weights, c = 1 − a + a min(f, 4) gives each class the weight of its probable members.

Verdicts are learned from burn-in's end on. Until then the student has not been taught them, so they
show how far its r can be believed, and ε̂ follows (see `share_of_wrong`). Which classes are taken
for which they show at any time.

The second term is that of early-learning regularisation, with b a faster moving average of a
sample's predictions. It keeps labels from being memorised. Where most labels are wrong, it only
confirms mistakes of the student: λ' falls linearly from λ to 0 as ε̂ goes from 0.45 to 0.65.
A label with a small v is not learned, but where another class than y has r(k) > τ, the student can
learn that one; `believed` and `belief` are this k and a r(k).
Shapes: N samples, B of them in a batch, K classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from mentornet.curricula.curriculum import check_not_negative
from mentornet.errors import MentorNetError
from mentornet.mentors.universal import UniversalMentor, universal_mentor
from mentornet.verdicts import VerdictLookup, Verdicts
from mentornet.weighting.anchors import anchored_posterior
from mentornet.weighting.calibration import calibrated, evidence_for, share_of_wrong, with_right
from mentornet.weighting.early_term import clipped, early_learning_term
from mentornet.weighting.evidence import Evidence
from mentornet.weighting.posterior import LabelPosterior

__all__ = ["EarlyConfig", "EarlyJudge"]

_CLEAN = 0.06  # if fewer labels than this share look wrong, most of them are only hard
_HELPS, _HARMS = 0.45, 0.65  # up to and from these shares of wrong labels, the second term does so
_MOST = 4.0  # the largest c
_NUMBERED = 2**15  # classes that numbers of two bytes can name
_OFF = 0.07  # how far ε̂ is off without verdicts at least, as a standard deviation
_LEAST = 1e-12  # the smallest sum of probabilities that is divided by
_SETTLED = 0.4  # share of training after which ε̂ stays what it is


@dataclass(frozen=True)
class EarlyConfig:
    """How labels are judged early.

    Args:
        strength: λ ≥ 0.
        belief: decay of the moving average b, in [0, 1).
        forget: decay of the moving average that r is computed from, in [0, 1).
        burn_in: share of training with a = 0, in [0, 1].
        rise: share of training after that in which a rises to 1, in [0, 1].
        sure: τ, in [0, 1].
    """

    strength: float = 3.0
    belief: float = 0.7
    forget: float = 0.9
    burn_in: float = 0.1
    rise: float = 0.1
    sure: float = 0.9

    def __post_init__(self) -> None:
        check_not_negative(strength=self.strength)
        for name, decay in (("belief", self.belief), ("forget", self.forget)):
            if not 0 <= decay < 1:
                raise MentorNetError(f"{name} must be in [0, 1), got {decay:g}")
        for name in ("burn_in", "rise", "sure"):
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise MentorNetError(f"{name} must be in [0, 1], got {share:g}")

    def risen(self, progress: float) -> float:
        """Return how far a has risen after that share of training, in [0, 1].

        >>> config = EarlyConfig(burn_in=0.25, rise=0.5)
        >>> [config.risen(progress) for progress in (0.1, 0.5, 0.9)]
        [0.0, 0.5, 1.0]
        """
        after = progress - self.burn_in
        return min(1.0, max(0.0, after / self.rise if self.rise else float(after >= 0)))


class EarlyJudge(nn.Module):
    """Remembers predictions, and finds the weights; its state takes 2 N K numbers.

    Args:
        count: N.
        classes: K.
        config: see `EarlyConfig`.
        verdicts: what a person said of labels, or None.
        mentor: says how sure labels are; by default the universal mentor that ships.

    Attributes:
        right: 1 until `judge`, then v, `(N,)`.
        balance: c, `(K,)`.
        believed: the most probable class, `(N,)`.
        belief: how much it is to be learned, `(N,)`: 0 where it is y, where it is not sure, and
            where there is a verdict.
        rate: ε̂, a scalar; NaN until `judge`.
        counted: how many judgements ε̂ is the mean of; 0 while a rises.
        checked: ε̂ by verdicts and its variance, `(2,)`; NaN until burn-in ends, or without any.
    """

    beliefs: Tensor
    seen: Tensor
    given: Tensor
    right: Tensor
    balance: Tensor
    believed: Tensor
    belief: Tensor
    rate: Tensor
    counted: Tensor
    checked: Tensor
    lasting: Tensor

    def __init__(
        self,
        count: int,
        classes: int,
        config: EarlyConfig | None = None,
        verdicts: Verdicts | None = None,
        mentor: UniversalMentor | None = None,
    ) -> None:
        super().__init__()
        self.config, self.verdicts = config or EarlyConfig(), verdicts
        self.mentor = mentor or universal_mentor()
        for name in ("beliefs", "seen"):
            self.register_buffer(name, torch.zeros(count, classes))
        number = torch.int16 if classes <= _NUMBERED else torch.int32
        self.register_buffer("given", torch.full((count,), -1, dtype=number))
        self.register_buffer("right", torch.ones(count))
        self.register_buffer("balance", torch.ones(classes))
        self.register_buffer("believed", torch.zeros(count, dtype=number))
        self.register_buffer("belief", torch.zeros(count, dtype=torch.float16))
        self.register_buffer("rate", torch.full((), torch.nan))
        self.register_buffer("counted", torch.zeros(()))
        self.register_buffer("checked", torch.full((2,), torch.nan))
        self.register_buffer("lasting", torch.ones(()))  # λ'/λ

    @property
    def is_checked(self) -> bool:
        """Whether verdicts were compared with what was found."""
        return not bool(self.checked.isnan().any())

    @property
    def uncertainty(self) -> float:
        """How far ε̂ may be off with verdicts, as a standard deviation; see `is_checked`."""
        return float((1 / (1 / self.checked[1] + 1 / _OFF**2)).sqrt())

    @property
    def known(self) -> VerdictLookup | None:
        """What the student is taught of the verdicts: nothing before they were compared."""
        if self.verdicts is None or not self.is_checked:
            return None
        return VerdictLookup(self.verdicts.to(self.given.device))

    @torch.no_grad()
    def see(self, evidence: Evidence) -> Tensor:
        """Remember the predictions for samples, and return their weights v, `(B,)`.

        A sample whose loss is not finite, or that has no label, has weight 0 and changes nothing.

        Args:
            evidence: of samples with numbers, with the predicted probabilities.
        """
        assert evidence.index is not None
        assert evidence.probabilities is not None
        index, fine = evidence.index, evidence.losses.isfinite()
        p = clipped(evidence.probabilities.float())
        p = p / p.sum(1, keepdim=True)
        for memory, decay in ((self.beliefs, self.config.belief), (self.seen, self.config.forget)):
            before = memory[index]
            memory[index] = torch.where(fine[:, None], decay * before + (1 - decay) * p, before)
        self.given[index] = torch.where(fine, evidence.labels.to(self.given), self.given[index])
        return torch.where(fine, self.right[index], 0.0)

    @torch.no_grad()
    def judge(self, progress: float) -> None:
        """Find the weights anew, once an epoch, after that share of training."""
        known = (self.given >= 0).nonzero()[:, 0]
        if not len(known):
            return
        if self.verdicts is not None:
            self.verdicts = self.verdicts.to(known.device)
        label, seen = self.given[known].long(), self.seen[known]
        p = seen / seen.sum(1, keepdim=True)
        said = None if self.verdicts is None else self.verdicts.said(self.given.long())[known]
        rate = self.rate if self.is_checked else None
        found = anchored_posterior(p, label, said=said, rate=rate)
        sureness = self.mentor(evidence_for(found, p, self.mentor.weights))
        self._estimate(found.noise_rate, sureness, known, progress)
        found = with_right(found, calibrated(sureness, self.rate))
        if said is not None:
            found = self._told(found, known, said)
        self._follow(found, known, self.config.risen(progress))
        if self.verdicts is not None:  # they are taught, not what is believed
            self.belief[self.verdicts.index] = 0.0

    def _follow(self, found: LabelPosterior, known: Tensor, risen: float) -> None:
        """Set what the student is taught of the samples `known`, by what was found of them."""
        label = found.given_label
        share = risen * (self.rate / _CLEAN).clamp(max=1).square()
        self.right[known] = (1 - share * (1 - found.right)).to(self.right)
        sure, believed = found.true.max(1)
        self.believed[known] = believed.to(self.believed)
        rejected = (believed != label) & (sure > self.config.sure)
        self.belief[known] = (share * sure * rejected).to(self.belief)
        trusted = torch.zeros_like(self.balance).to(found.true).index_add(0, label, found.right)
        members = found.true.sum(0) / trusted.clamp(min=1)
        members = members * (trusted.sum() / (members * trusted).sum())
        self.balance.copy_(1 - share + share * members.clamp(max=_MOST))
        harm = ((self.rate - _HELPS) / (_HARMS - _HELPS)).clamp(0, 1)
        self.lasting.copy_(1 - harm)

    def _estimate(self, rate: Tensor, sureness: Tensor, known: Tensor, progress: float) -> None:
        """Set ε̂ after that share of training.

        Args:
            rate: the share of wrong labels that was found now, a scalar.
            sureness: s of the samples `known`.
            known: which samples these are.
            progress: the share of training.
        """
        counted = int(self.counted)
        begins = progress >= self.config.burn_in
        if self.verdicts is not None and begins and not self.is_checked:
            rows, correct = self._verified(known)
            self.checked.copy_(torch.stack(share_of_wrong(sureness, rate, rows, correct)))
        if self.is_checked:
            share, spread = self.checked
            off = (share - rate).abs().clamp(min=_OFF)  # if they disagree, verdicts are right
            sure = 1 / (1 + spread / off.square())
            rate = sure * share + (1 - sure) * rate
        if self.config.risen(progress) < 1:
            self.rate.copy_(rate)
        elif progress <= _SETTLED or not counted:
            before = self.rate if counted else rate
            self.rate.copy_(before + (rate - before) / (counted + 1))
            self.counted += 1

    def _verified(self, known: Tensor) -> tuple[Tensor, Tensor]:
        """Return which rows of `known` have a verdict, `(M,)`, and whether it is "correct"."""
        assert self.verdicts is not None
        place = torch.full_like(self.given, -1).long()
        place[known] = torch.arange(len(known), device=known.device)
        rows = place[self.verdicts.index]
        return rows[rows >= 0], self.verdicts.is_correct[rows >= 0]

    def _told(self, found: LabelPosterior, known: Tensor, said: Tensor) -> LabelPosterior:
        """Return the same, with what verdicts say of their own samples.

        Args:
            found: what was found of the samples `known`.
            known: which samples these are.
            said: the true class where a verdict says it, else −1.
        """
        rows, correct = self._verified(known)
        true, label = found.true.clone(), found.given_label
        wrong = rows[~correct]
        true[wrong, label[wrong]] = 0.0  # and then the true class is one of the others
        true[wrong] = true[wrong] / true[wrong].sum(1, keepdim=True).clamp(min=_LEAST)
        one = torch.eye(true.shape[1]).to(true)[said.clamp(min=0)]
        return replace(found, true=torch.where((said >= 0)[:, None], one, true))

    def losses(self, log_p: Tensor, label: Tensor, index: Tensor) -> Tensor:
        """Return what v multiplies for each sample, `(B,)`, with gradient.

        Args:
            log_p: the log-probabilities, `(B, K)`.
            label: y, `(B,)`.
            index: the numbers of the samples, `(B,)`.
        """
        term = early_learning_term(clipped(log_p.exp()), self.beliefs[index])
        own = nn.functional.nll_loss(log_p, label, reduction="none")
        return self.balance[label] * own + self.config.strength * self.lasting * term
