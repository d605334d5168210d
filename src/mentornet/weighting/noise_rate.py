"""How many labels are wrong, estimated from the losses while the student trains.

The losses of a batch come from two kinds of samples, f = (1 − ε) f_right + ε f_wrong, and ε is
wanted. Where the student's probabilities are known, so is f_wrong: it is what the loss would be on
a class that the student does not predict. Where only losses are known, f is taken to be two bells.

Both count right labels in that the student could not learn, which are many where it knows little.
Where every sample was followed, only those need be asked on which the student is of one mind.
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
    "a wrong label is any other class with equal chance, and the student does not know it by heart"
)
_AVERAGED = 0.1  # share of training that the noise rate is averaged over
_SETTLED = 0.1  # share of training before which the student knows too little to be asked
_CLEAR = 0.1  # share of labels that may look wrong without surely being wrong
_MARGIN = 1.2  # this many times the estimated share of wrong labels is left out
_CLEAN = 0.06  # a share of surely wrong labels below which less and less is left out
_LEARNED, _NOTHING = 0.7, 0.8  # beyond such shares the student may just know nothing yet
_MOST = 0.95  # of the samples are left out at most
_SHARES = (0.9, 0.75, 0.5)  # of ℓ_wrong lie beyond the places where tails are compared
_UNSURE = (0.2, 0.02)  # to either side: a share of the rate, and so much in any case
_ENOUGH = 0.1  # of the samples, on which the student must be of one mind to be asked
_OF_ONE_MIND = (
    "the student is right where it always says the same, and knows no wrong label by heart"
)
_TWO_BELLS = "the losses of right and of wrong labels are two normal distributions"


@dataclass(frozen=True)
class NoiseEstimate:
    """The estimated share of wrong labels.

    Attributes:
        rate: ε, in [0, 1].
        low: the lower end of what is plausible.
        high: the upper end.
        assumes: what must hold for it to mean anything.
    """

    rate: float
    low: float
    high: float
    assumes: str

    def __str__(self) -> str:
        return (
            f"{self.rate:.0%} of the labels look wrong ({self.low:.0%} to {self.high:.0%}), "
            f"if {self.assumes}"
        )


class NoiseRate(nn.Module):
    """ε = P(ℓ > m) / P(ℓ_wrong > m), averaged over a while; or the larger of two bells.

    Right labels have small losses once the student has learned a little, so beyond a suitable m
    there are nearly only wrong ones. Where m is exceeded by nine tenths of ℓ_wrong, few wrong
    labels are missed: that is `rate`. Where it is exceeded by three quarters, fewer right
    labels of a student that knows little are counted in: that is `cautious`, to act on. Where it
    is exceeded by half, there are hardly any right ones left: that is `sure`.

    Args:
        total_steps: of the whole training; ε is averaged over about a tenth of them.
        burn_in: share of training after which the student is asked in any case.
        decay: by which older batches count less in the distributions.

    Attributes:
        settled: whether the student has learned enough to be asked, a boolean scalar. It stays so.
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
        self.recent = LossHistogram(2, decay)  # of ℓ on the given labels, and of ℓ_wrong
        self.bells = TwoBells(self.recent.edges)
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
        """ε as it is safe to act on while the student still knows little."""
        return self.average[1]

    @property
    def sure(self) -> Tensor:
        """ε as far as it is beyond doubt."""
        return self.average[2]

    @torch.no_grad()
    def update(self, losses: Tensor, wrong: Tensor | None, step: Tensor) -> None:
        """Take in a batch.

        The student counts as settled when burn-in is over. It does so before, from a tenth of
        training on, if the labels that look wrong are those that surely are: then it has nothing
        left to learn but wrong labels by heart. Before it is settled, nothing is averaged.

        Args:
            losses: ℓ on the given labels, `(B,)`; NaN does not count.
            wrong: ℓ on labels that are surely wrong, `(B,)`, or None if that is not known.
            step: the number of the step, a scalar.
        """
        rate, _, sure = self.average
        clear = self.knows_wrong & (rate - sure < _CLEAR) & (step >= self.earliest)
        self.settled = self.settled | clear | (step >= self.latest)
        unknown = torch.full_like(losses, torch.nan) if wrong is None else wrong
        self.recent.update(torch.stack([losses, unknown]))
        if wrong is None:
            now = self.bells.update(self.recent.shares()[0]).expand(len(_SHARES))
        else:
            self.knows_wrong = torch.ones_like(self.knows_wrong)
            now = _tail_ratios(self.recent.shares(), self.shares)
        moved = self.average + self.smooth * (now - self.average)
        self.average = torch.where(self.settled, moved, now)

    def estimate(self, steady: Steady | None = None) -> NoiseEstimate:
        """What is known by now; on an accelerator this waits.

        The interval is a fifth of the rate and two points to either side, and two standard errors
        of as many samples as are remembered: labels that are learned by heart make the rate too
        small, right ones that are hard to learn too large, and this covers the recorded runs.

        Args:
            steady: on which samples the student is of one mind, where that is known: if they are
                a tenth of all, the rate is the share of them that it holds wrong.
        """
        rate, seen = self.rate.item(), self.recent.counts[0].sum().item()
        assumes = _ANY_CLASS if self.knows_wrong else _TWO_BELLS
        if steady is not None and steady.share >= _ENOUGH:
            rate, seen, assumes = steady.against, steady.count, _OF_ONE_MIND
        if not seen:
            return NoiseEstimate(0.0, 0.0, 1.0, assumes)
        error = 2 * math.sqrt(max(rate * (1 - rate), 0.01) / seen)
        unsure = _UNSURE[0] * rate + _UNSURE[1] + error
        return NoiseEstimate(rate, max(0.0, rate - unsure), min(1.0, rate + unsure), assumes)


class AutoPercentile(nn.Module):
    """p = 1 − 1.2 ε min(1, (ε_sure / 0.06)²): if labels are wrong, better one right one too few.

    Where hardly any label is surely wrong, what looks wrong is mostly hard, and is kept. Where
    nearly all are (0.8 and more), the student still knows nothing, and nothing is left out by it.

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
        """p, a scalar in [0, 1]; 1 while the student has not settled.

        Args:
            rates: three estimates of the share of wrong labels, `(3,)`, as in `NoiseRate.average`;
                the second is ε, which is safe to act on, and the third ε_sure.
            settled: whether the student has learned enough to be asked, a boolean scalar.
        """
        _, rate, sure = rates
        wrong = (sure / _CLEAN).clamp(max=1).square()
        knows = ((_NOTHING - sure) / (_NOTHING - _LEARNED)).clamp(0, 1)
        left_out = _MARGIN * rate * wrong * knows
        return 1 - torch.where(settled, left_out.clamp(max=_MOST), 0.0)

    @torch.no_grad()
    def measured(self, losses: Tensor) -> Tensor:
        """ℓ of unknown scale, `(B,)`, in units of half its mean in the first batch.

        The curriculum fades out over one unit of loss, which suits cross-entropy.
        """
        first = losses.nanmean().float() / 2
        self.unit = torch.where(self.unit > 0, self.unit, first)
        return losses / torch.where(self.unit > 0, self.unit, 1.0).to(losses.dtype)


def _tail_ratios(recent: Tensor, shares: Tensor) -> Tensor:
    """P(ℓ > m) / P(ℓ_wrong > m), `(3,)`, where about each of `shares` of ℓ_wrong lies beyond m."""
    beyond = recent.flip(1).cumsum(1).flip(1)  # of ℓ and of ℓ_wrong, bin by bin
    at = ((beyond[1] >= shares).sum(1) - 1).clamp(0, BINS - 1)
    given, wrong = beyond[:, at]
    return (given / wrong.clamp(min=1e-12)).clamp(0, 1)
