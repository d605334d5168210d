"""What a run remembers of every sample: its loss, its weight and what was predicted.

A sample takes at most 64 bytes of memory. Its loss in every epoch is written to disk when the epoch
ends. Shapes: B samples of a batch, N samples of the dataset.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from mentornet.files import write_bytes
from mentornet.records.margins import MAX_MARGIN, firmness, log_odds

__all__ = ["Records", "Steady", "checksum", "late_share", "losses_file"]

_LATE = 0.2  # weight of the last prediction in the moving average over all predictions
_STEADY = 0.9  # share of a sample's late predictions that must be the same class
_MOST_SEEN = 2**15 - 1  # how often a sample can be counted as seen
_OVER = 1000  # about how many recent samples the student's firmness is measured on


def late_share(support: Tensor, seen: Tensor) -> Tensor:
    """Return the share of late predictions that agree with a class, in [0, 1].

    Args:
        support: the moving average of the predictions of that class, which starts at 0.
        seen: how many predictions it averages.
    """
    begun = 1 - (1 - _LATE) ** seen.float()
    return (support.float() / begun.clamp(min=_LATE)).clamp(max=1)


@dataclass(frozen=True)
class Steady:
    """The samples for which the student has settled on one class.

    Attributes:
        count: the number of these samples.
        share: their share of all samples that were seen.
        against: the share of them for which that class is not the given label.
    """

    count: int
    share: float
    against: float


class Records(nn.Module):
    """Running statistics of N samples, updated whenever a sample is trained on.

    Args:
        count: N.
        device: where the statistics are kept.
        labels: whether to keep the given labels too, if they are kept nowhere else.
        classes: K, if it is known; few classes need fewer bytes.

    Attributes:
        loss: the last loss of each sample, float32; NaN until it is seen.
        weight: its last weight v.
        weight_sum: Σ v over the times that it was seen.
        given_label: its last given label, −1 until it is seen; only kept with `labels`.
        margin_sum: Σ w m over the times that it was seen. m is the margin of the given label, at
            most `MAX_MARGIN`, and w says how firm the student was (`firmness`). Margins that are
            not finite do not count.
        margin_weight: Σ w.
        seen: how many times it was seen with a finite loss and margin.
        predicted_label: the student's last prediction, −1 until there is one.
        votes: the two classes that were predicted most often of late, `(N, 2)`, −1 for none.
        support: the moving average of the predictions of each of the two, `(N, 2)`; it starts at 0
            (`late_share` corrects for that).
        learned_epoch: the first epoch, from 1, that predicted the given label; 0 if none did.
        forgotten: how often one epoch predicted the given label and the next did not.
        fits: whether the last prediction was the given label.
        opinions: the four counts that `firmness` takes, `(4,)`, in which older samples fade.
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
        """The number of bytes that a sample takes in memory."""
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
        """Add one batch.

        Args:
            index: the numbers of the samples, `(B,)`.
            losses: their losses, `(B,)`.
            weights: their weights v, `(B,)`; None if all are 1.
            predicted_label: what the student predicts, `(B,)`; −1 for nothing.
            given_label: their given labels, `(B,)`.
            epoch: the number of the epoch, from 0.
            margins: the margins of the given labels, `(B,)`; by default their log-odds.
        """
        losses = losses.detach().float()
        self._put("loss", index, losses)
        if margins is None:
            margins = log_odds(losses)
        margins = margins.detach().float().clamp(max=MAX_MARGIN)
        known = losses.isfinite() & margins.isfinite()
        weight = self._firmness(index, predicted_label, given_label) * known
        self._put(
            "margin_sum", index, self.margin_sum[index] + weight * margins.nan_to_num(0, 0, 0)
        )
        self._put("margin_weight", index, self.margin_weight[index] + weight)
        self._put("seen", index, (self.seen[index].int() + known).clamp(max=_MOST_SEEN))
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
        """Count the batch, and return how much its margins weigh, a scalar."""
        before = self.predicted_label[index]
        met = (before >= 0) & (predicted >= 0)
        same, against = met & (before == predicted), met & (predicted != given)
        now = torch.stack([same.sum(), met.sum(), (same & against).sum(), against.sum()]).float()
        opinions = self.opinions.float() * (_OVER / (_OVER + len(index))) + now
        self.opinions = opinions.to(self.opinions.dtype)
        return firmness(*opinions)

    def _vote(self, index: Tensor, predicted: Tensor) -> None:
        """Update the moving averages: s ← (1 − a) s + a [the class was predicted], a = 0.2.

        Two classes are remembered. A third one replaces the second once that has faded below a. So
        the first is the class that was predicted most often in about the last 1/a predictions.
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
        """Write into a buffer, in the dtype that it was cast to."""
        buffer = getattr(self, name)
        buffer[index] = values.to(buffer.dtype)

    def steady(self) -> Steady:
        """Find the samples of whose late predictions at least nine tenths are one class.

        The late predictions are about the last five, so samples that were seen less often do not
        count. The records must keep the given labels (`labels`).
        """
        known = (self.seen > 0) & (self.votes[:, 0] >= 0)
        share = late_share(self.support[:, 0], self.seen)
        steady = known & (self.seen >= 1 / _LATE) & (share >= _STEADY)
        against = steady & (self.votes[:, 0] != self.given_label)
        seen, count, wrong = torch.stack([known.sum(), steady.sum(), against.sum()]).tolist()
        return Steady(count, count / max(seen, 1), wrong / max(count, 1))

    def save_losses(self, folder: Path, epoch: int) -> None:
        """Write the losses of the epoch that has ended (from 0) into the folder."""
        content = self.loss.cpu().numpy().tobytes()
        write_bytes(losses_file(folder, epoch), content + checksum(content))


def checksum(content: bytes) -> bytes:
    """Return the 16 bytes that follow the losses of an epoch in their file."""
    return hashlib.sha256(content).digest()[:16]


def losses_file(folder: Path, epoch: int) -> Path:
    """Return the path of the file with the losses of an epoch (from 0)."""
    return folder / f"epoch-{epoch:04d}.f32"
