"""What a run remembers of every sample: its losses, its weight, what was predicted.

At most 64 bytes a sample are held in memory; the loss of every epoch goes to disk as the epoch
ends. Shapes: N samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.files import write_bytes
from mentornet.records.margins import MOST, firmness, log_odds, weighed_mean

__all__ = ["Records", "Steady", "check_records", "late_support", "losses_file"]

_LATE = 0.2  # the weight of the last prediction among all
_STEADY = 0.9  # the share of late predictions that must be the same
_MOST_LOOKS = 2**15 - 1  # that are counted
_OVER = 1000  # samples, about, that the firmness of opinions is measured on


def late_support(support: Tensor, seen: Tensor) -> Tensor:
    """The share of late predictions that agree with the suggested label, in [0, 1]."""
    begun = 1 - (1 - _LATE) ** seen.float()
    return (support.float() / begun.clamp(min=_LATE)).clamp(max=1)


@dataclass(frozen=True)
class Steady:
    """The samples on which the student is of one mind.

    Attributes:
        count: how many they are.
        share: of all samples that were seen.
        against: the share of them whose given label it holds wrong.
    """

    count: int
    share: float
    against: float


class Records(nn.Module):
    """The running figures of N samples, each updated whenever the sample is trained on.

    Args:
        count: N.
        device: where they are kept.
        labels: whether to keep the given labels too, for somebody who has them nowhere else.
        classes: K, if it is known; fewer classes take fewer bytes.

    Attributes:
        loss: ℓ when it was last seen, float32, NaN before.
        weight: v when it was last seen.
        weight_sum: Σ v over the epochs so far.
        given_label: as it was last said to be, −1 before; where `labels` are kept.
        margin_sum: Σ w m over all the times that it was seen, m being the margin of the given
            label, at most `MOST`, and w how firm the student was (`firmness`); what was no number
            is left out.
        margin_weight: Σ w.
        seen: how often that was.
        predicted_label: by the student, when it was last seen; −1 before.
        votes: the two classes that it has predicted most often of late, `(N, 2)`; −1 before.
        support: the share of late predictions of each, `(N, 2)`, times 1 − (1 − a)ⁿ as for any
            moving average that starts at 0 (`late_support` undoes that).
        learned_epoch: the first epoch, from 1, that predicted the given label; 0: never.
        forgotten: how often the prediction was the given label in one epoch and not in the next.
        opinions: what `firmness` takes, `(4,)`, older samples fading.
    """

    loss: Tensor
    weight: Tensor
    weight_sum: Tensor
    given_label: Tensor
    margin_sum: Tensor
    margin_weight: Tensor
    seen: Tensor
    predicted_label: Tensor
    votes: Tensor
    support: Tensor
    learned_epoch: Tensor
    forgotten: Tensor
    fits: Tensor
    opinions: Tensor

    def __init__(
        self,
        count: int,
        device: torch.device | str = "cpu",
        *,
        labels: bool = False,
        classes: int | None = None,
    ) -> None:
        super().__init__()
        whole = torch.zeros(count, dtype=torch.int32, device=device)
        self.register_buffer("loss", torch.full((count,), torch.nan, device=device))
        self.register_buffer("weight", torch.ones(count, device=device))
        self.register_buffer("weight_sum", torch.zeros(count, device=device))
        if labels:
            self.register_buffer("given_label", whole - 1)
        self.register_buffer("margin_sum", torch.zeros(count, device=device))
        self.register_buffer("margin_weight", torch.zeros(count, device=device))
        self.register_buffer("seen", whole.short())
        few = classes is not None and classes < torch.iinfo(torch.int16).max
        none = (whole - 1).to(torch.int16 if few else torch.int32)
        self.register_buffer("predicted_label", none)
        self.register_buffer("votes", none[:, None].repeat(1, 2))
        self.register_buffer("support", torch.zeros(count, 2, dtype=torch.float16, device=device))
        self.register_buffer("learned_epoch", whole.short())
        self.register_buffer("forgotten", whole.short())
        self.register_buffer("fits", whole.bool())
        self.register_buffer("opinions", torch.zeros(4, device=device))

    @property
    def bytes_per_sample(self) -> float:
        """What a sample costs in memory."""
        count = len(self.loss)
        parts = (part for part in self.state_dict().values() if len(part) == count)
        return sum(part.numel() * part.element_size() for part in parts) / count

    @torch.no_grad()
    def add(
        self,
        index: Tensor,
        losses: Tensor,
        weights: Tensor | None,
        predicted_label: Tensor,
        given_label: Tensor,
        epoch: int | Tensor,
        margins: Tensor | None = None,
    ) -> None:
        """Take in one batch of that epoch (from 0); all else of shape `(B,)`.

        Without margins, the log-odds stand for them.
        """
        losses = losses.detach().float()
        self._put("loss", index, losses)
        if margins is None:
            margins = log_odds(losses)
        margins = margins.detach().float().clamp(max=MOST)
        known = losses.isfinite() & margins.isfinite()
        weight = self._firmness(index, predicted_label, given_label) * known
        self._put(
            "margin_sum", index, self.margin_sum[index] + weight * margins.nan_to_num(0, 0, 0)
        )
        self._put("margin_weight", index, self.margin_weight[index] + weight)
        self._put("seen", index, (self.seen[index].int() + known).clamp(max=_MOST_LOOKS))
        if "given_label" in self._buffers:
            self._put("given_label", index, given_label)
        weights = torch.ones_like(losses) if weights is None else weights
        self._put("weight", index, weights)
        self._put("weight_sum", index, self.weight_sum[index] + weights.float())
        fits = predicted_label == given_label
        learned = self.learned_epoch[index]
        self._put("learned_epoch", index, torch.where(fits & (learned == 0), epoch + 1, learned))
        self._put("forgotten", index, self.forgotten[index] + (self.fits[index] & ~fits))
        self._put("fits", index, fits)
        self._put("predicted_label", index, predicted_label)
        self._vote(index, predicted_label)

    def _firmness(self, index: Tensor, predicted: Tensor, given: Tensor) -> Tensor:
        """By how much the margins of this batch count, a scalar; it counts the batch in."""
        before = self.predicted_label[index]
        met = (before >= 0) & (predicted >= 0)
        same, against = met & (before == predicted), met & (predicted != given)
        now = torch.stack([same.sum(), met.sum(), (same & against).sum(), against.sum()]).float()
        opinions = self.opinions.float() * (_OVER / (_OVER + len(index))) + now
        self.opinions = opinions.to(self.opinions.dtype)
        return firmness(*opinions)

    def _vote(self, index: Tensor, predicted: Tensor) -> None:
        """S ← (1 − a) s for both classes that are remembered, and a more for the one predicted.

        A third class takes the place of the second once that has faded below a. So the first is
        the class predicted most often of late, some 1/a times, and s its share.
        """
        votes, support = self.votes[index], self.support[index].float()
        support = support * (1 - _LATE)
        predicted = predicted.to(votes.dtype)
        hits = (votes == predicted[:, None]).float()
        said = (predicted >= 0).float()[:, None]
        support = support + _LATE * hits * said
        other = (hits.sum(1) == 0) & (predicted >= 0) & (support[:, 1] < _LATE)
        second = torch.where(other, predicted, votes[:, 1])
        votes = torch.stack([votes[:, 0], second], 1)
        fresh = torch.where(other, _LATE, support[:, 1])
        support = torch.stack([support[:, 0], fresh], 1)
        turned = support[:, 1] > support[:, 0]
        self._put("votes", index, torch.where(turned[:, None], votes.flip(1), votes))
        self._put("support", index, torch.where(turned[:, None], support.flip(1), support))

    def _put(self, name: str, index: Tensor, values: Tensor) -> None:
        """Write into a buffer, whatever somebody has cast it to."""
        buffer = getattr(self, name)
        buffer[index] = values.to(buffer.dtype)

    @property
    def mean_weight(self) -> Tensor:
        """The mean of v over the times that a sample was seen, `(N,)`; 0 where it was not."""
        return self.weight_sum / self.seen.clamp(min=1)

    @property
    def margin(self) -> Tensor:
        """The margin of the given label all through training, `(N,)`; NaN where it was not seen."""
        return weighed_mean(self.margin_sum, self.margin_weight)

    @property
    def suggested_label(self) -> Tensor:
        """The class predicted most often of late, `(N,)`; −1 where nothing was."""
        return self.votes[:, 0]

    @property
    def suggested_share(self) -> Tensor:
        """The share of late predictions that say so, `(N,)`."""
        return late_support(self.support[:, 0], self.seen)

    def steady(self) -> Steady:
        """Of how many samples nine tenths of the late predictions are the same, and for what.

        Late are about five, so what was seen less often does not count. The given labels are
        needed (`labels`).
        """
        known = (self.seen > 0) & (self.votes[:, 0] >= 0)
        steady = known & (self.seen >= 1 / _LATE) & (self.suggested_share >= _STEADY)
        against = steady & (self.votes[:, 0] != self.given_label)
        seen, count, wrong = torch.stack([known.sum(), steady.sum(), against.sum()]).tolist()
        return Steady(count, count / max(seen, 1), wrong / max(count, 1))

    def save_losses(self, folder: Path, epoch: int) -> None:
        """Keep the losses of the epoch that has ended."""
        write_bytes(losses_file(folder, epoch), self.loss.cpu().numpy().tobytes())


def check_records(state: Mapping[str, Tensor]) -> None:
    """Raise if this is what a version with other records has saved."""
    missing = Records(1).state_dict().keys() - state.keys()
    if missing:
        raise MentorNetError(
            f"the run was begun by an earlier version, which kept no {sorted(missing)[0]} of its "
            "samples; start it again"
        )


def losses_file(folder: Path, epoch: int) -> Path:
    """Where the losses of an epoch, from 0, are kept."""
    return folder / f"epoch-{epoch:04d}.f32"
