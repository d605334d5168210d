"""Estimate the share ε of wrong labels from the losses while the student trains.

The distribution of the losses is a mixture, f = (1 − ε) f_right + ε f_wrong. If the logits are
known, so is f_wrong: it is the distribution of the loss on a class that the student does not
predict. If only losses are known, f is fitted by a mixture of two normal distributions; if the two
are not separate, outliers are looked for on a common scale of all losses (`LossScale`).

Both estimates also count correct labels that the student could not learn, and an untrained student
has many of these. If there are records of every sample, ε is estimated only from those samples
whose predictions are steady.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mentornet.records import Steady
from mentornet.weighting.loss_histogram import BINS, LossHistogram
from mentornet.weighting.two_bells import TwoBells

__all__ = ["AutoPercentile", "NoiseEstimate", "NoiseRate"]

_ANY_CLASS = (
    "a wrong label is any other class with equal chance, and the student has not memorised it"
)
_AVERAGED = 0.1  # share of training that the noise rate is averaged over
_SETTLED = 0.1  # share of training before which the student knows too little
_CLEAR = 0.1  # the largest share of labels that may look wrong without surely being wrong
_MARGIN = 1.2  # this many times the estimated share of wrong labels is left out
_CLEAN = 0.06  # if fewer labels than this share are surely wrong, fewer samples are left out
_LEARNED, _NOTHING = 0.7, 0.8  # with such shares of wrong labels the student may know nothing yet
_MOST = 0.95  # the largest share of samples that is left out
_SHARES = (0.9, 0.75, 0.5)  # tails are compared at m that these shares of ℓ_wrong exceed
_UNSURE = (0.2, 0.02)  # half the interval: this share of the rate, plus this constant
_ENOUGH = 0.1  # the smallest share of samples with steady predictions to estimate from
_STEADY = "steady predictions of the student are right, and it has memorised no wrong label"
_TWO_BELLS = "wrong labels are outliers, with far larger losses than right ones"
_GROSS = 1.9  # least mean of the losses of outliers on the scale of `LossScale`: x = 6


@dataclass(frozen=True)
class NoiseEstimate:
    """The estimated share of wrong labels.

    Attributes:
        rate: ε, in [0, 1].
        low: the lower end of the plausible interval.
        high: the upper end of that interval.
        assumes: the assumption that the estimate rests on.
    """

    rate: float
    low: float
    high: float
    assumes: str

    @classmethod
    def around(cls, rate: float, seen: float, assumes: str) -> NoiseEstimate:
        """Return an estimate with its interval, from a rate that was measured on `seen` samples.

        The interval extends to either side by a fifth of the rate, two percentage points, and two
        standard errors.
        """
        error = 2 * math.sqrt(max(rate * (1 - rate), 0.01) / seen)
        unsure = _UNSURE[0] * rate + _UNSURE[1] + error
        return cls(rate, max(0.0, rate - unsure), min(1.0, rate + unsure), assumes)

    def __str__(self) -> str:
        return (
            f"{self.rate:.0%} of the labels look wrong ({self.low:.0%} to {self.high:.0%}), "
            f"if {self.assumes}"
        )


class NoiseRate(nn.Module):
    """A moving average of ε = P(ℓ > m) / P(ℓ_wrong > m), or ε of two normal distributions.

    Correct labels have small losses once the student has learned a little, so nearly all losses
    above a suitable m are of wrong labels. If 9/10 of ℓ_wrong exceed m, few wrong labels are
    missed: that is `rate`. If 3/4 exceed it, fewer correct labels of a student that knows little
    are counted: that is `cautious`, which the weights are based on. If 1/2 exceed it, hardly any
    correct labels are counted: that is `sure`.

    Args:
        total_steps: the number of steps of the whole training; ε is averaged over about a tenth.
        burn_in: share of training after which the student counts as settled in any case.
        decay: the factor of older batches in the distributions, in [0, 1).

    Attributes:
        settled: whether the student has learned enough for the estimate to be used, a boolean
            scalar. Once true, it stays true.
    """

    average: Tensor
    knows_wrong: Tensor
    settled: Tensor
    shares: Tensor

    def __init__(
        self, total_steps: float = 1000, burn_in: float = 0.2, decay: float = 0.98
    ) -> None:
        super().__init__()
        self.smooth = 1 / max(_AVERAGED * total_steps, 1.0)
        self.earliest, self.latest = (
            share * total_steps for share in (_SETTLED, max(burn_in, _SETTLED))
        )
        self.recent = LossHistogram(2, decay)  # of ℓ, and of ℓ_wrong or of the comparable losses
        self.bells = TwoBells(self.recent.edges)
        self.outliers = TwoBells(self.recent.edges, _GROSS)
        self.register_buffer("average", torch.zeros(len(_SHARES)))
        self.register_buffer("knows_wrong", torch.tensor(False))
        self.register_buffer("settled", torch.tensor(False))
        self.register_buffer("shares", torch.tensor(_SHARES)[:, None], persistent=False)

    @property
    def rate(self) -> Tensor:
        """ε, a scalar in [0, 1]."""
        return self.average[0]

    @property
    def cautious(self) -> Tensor:
        """A lower estimate of ε, which is safe to use while the student knows little."""
        return self.average[1]

    @property
    def sure(self) -> Tensor:
        """The share of labels that are surely wrong."""
        return self.average[2]

    @torch.no_grad()
    def update(
        self,
        losses: Tensor,
        wrong: Tensor | None,
        step: Tensor,
        comparable: Tensor | None = None,
    ) -> None:
        """Update the estimates by a batch.

        The student counts as settled when burn-in is over. After a tenth of training it may do so
        earlier: as soon as nearly all labels that look wrong are surely wrong, because it could
        then only memorise wrong labels. The average starts when the student is settled.

        Args:
            losses: ℓ on the given labels, `(B,)`; NaN values are ignored.
            wrong: ℓ on labels that are surely wrong, `(B,)`, or None if that is not known.
            step: the number of the step, a scalar.
            comparable: if `wrong` is None, ℓ on the scale of `LossScale`, `(B,)`, or None. Outliers
                are looked for if the losses themselves are not two groups, or below 0.
        """
        rate, _, sure = self.average
        clear = self.knows_wrong & (rate - sure < _CLEAR) & (step >= self.earliest)
        self.settled = self.settled | clear | (step >= self.latest)
        beside = comparable if wrong is None else wrong
        beside = torch.full_like(losses, torch.nan) if beside is None else beside
        self.recent.update(torch.stack([losses, beside]))
        if wrong is None:
            given, comparables = self.recent.shares()
            now, outliers = self.bells.update(given), self.outliers.update(comparables)
            groups = (now > 0) & (losses.nan_to_num(0.0).amin() >= 0)
            now = torch.where(groups, now, outliers).expand(len(_SHARES))
        else:
            self.knows_wrong = torch.ones_like(self.knows_wrong)
            now = _tail_ratios(self.recent.shares(), self.shares)
        moved = self.average + self.smooth * (now - self.average)
        self.average = torch.where(self.settled, moved, now)

    def estimate(self, steady: Steady | None = None) -> NoiseEstimate:
        """Return the estimate so far; on an accelerator this synchronises with the device.

        Memorised wrong labels make the rate too small, and correct labels that are hard to learn
        make it too large; the interval covers the true rate in our recorded runs.

        Args:
            steady: the samples whose predictions are steady, if there are records. If they are at
                least a tenth of all, the rate is the share of them that contradict their label.
        """
        rate, seen = self.rate.item(), self.recent.counts[0].sum().item()
        assumes = _ANY_CLASS if self.knows_wrong else _TWO_BELLS
        if steady is not None and steady.share >= _ENOUGH:
            rate, seen, assumes = steady.against, steady.count, _STEADY
        if not seen:
            return NoiseEstimate(0.0, 0.0, 1.0, assumes)
        return NoiseEstimate.around(rate, seen, assumes)


class AutoPercentile(nn.Module):
    """p = 1 − 1.2 ε min(1, (ε_sure / 0.06)²), the percentile of ℓ_pt for a share ε of wrong labels.

    The factor 1.2 is there because it is safer to leave out a correct label than to keep a wrong
    one. If hardly any label is surely wrong, most that look wrong are only hard, and they are kept.
    If nearly all are (0.8 and more), the student knows nothing yet, and no sample is left out.

    >>> auto, settled = AutoPercentile(), torch.tensor(True)
    >>> auto(torch.tensor([0.3, 0.25, 0.2]), settled)
    tensor(0.7000)
    >>> auto(torch.tensor([0.3, 0.25, 0.006]), settled)
    tensor(0.9970)
    """

    unit: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("unit", torch.zeros(()))

    def forward(self, rates: Tensor, settled: Tensor) -> Tensor:
        """Return p, a scalar in [0, 1]; it is 1 while the student has not settled.

        Args:
            rates: the three estimates of `NoiseRate.average`, `(3,)`; the second is ε, and the
                third is ε_sure.
            settled: whether the student has learned enough, a boolean scalar.
        """
        _, rate, sure = rates
        wrong = (sure / _CLEAN).clamp(max=1).square()
        knows = ((_NOTHING - sure) / (_NOTHING - _LEARNED)).clamp(0, 1)
        left_out = _MARGIN * rate * wrong * knows
        return 1 - torch.where(settled, left_out.clamp(max=_MOST), 0.0)

    @torch.no_grad()
    def measured(self, losses: Tensor) -> Tensor:
        """Return losses of unknown scale, `(B,)`, divided by half their mean in the first batch."""
        first = losses.nanmean().float() / 2
        self.unit = torch.where(self.unit > 0, self.unit, first)
        return losses / torch.where(self.unit > 0, self.unit, 1.0).to(losses.dtype)


def _tail_ratios(recent: Tensor, shares: Tensor) -> Tensor:
    """Return P(ℓ > m) / P(ℓ_wrong > m), `(3,)`, for m that `shares` of ℓ_wrong exceed."""
    beyond = recent.flip(1).cumsum(1).flip(1)  # shares of ℓ and ℓ_wrong beyond each bin
    at = ((beyond[1] >= shares).sum(1) - 1).clamp(0, BINS - 1)
    given, wrong = beyond[:, at]
    return (given / wrong.clamp(min=1e-12)).clamp(0, 1)
