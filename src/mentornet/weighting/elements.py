"""Elements: what gets a weight of its own, and where it is remembered.

At level "sample" an element is a sample. At the other levels a sample has many: its tokens, its
pixels, or one for each class of a problem in which every class may be right or wrong. They reach
the engine as if they were samples.

Shapes: B samples of a batch, S elements of each (some may have no label), E = B · S, N samples in
the training set. Elements of a batch are `(E,)`, sample by sample.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from mentornet.distributed import EvenBatches
from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean
from mentornet.weighting.evidence import IGNORE, Evidence, gathered, processes_here
from mentornet.weighting.label_checks import can_look

__all__ = ["LEVELS", "Elements", "WholeBatch", "check_level", "whole_batch"]

LEVELS = {
    "sample": "every sample of the batch",
    "token": "every token, with logits (B, T, K) and labels (B, T)",
    "pixel": "every place of an image of labels, with logits (B, K, …) and labels (B, …)",
    "class": "every pair of sample and class, with logits (B, K) and labels (B, K) of 0 and 1",
}
"""What gets a weight of its own at each level of a `MentorLoss`."""

_MOST = 2**31 - 1  # elements in all


def check_level(level: str, elements: object) -> None:
    """Raise if there is no such level, or if `elements` are given at level "sample"."""
    if not isinstance(level, str) or level not in LEVELS:
        raise MentorNetError(
            f"level must be a name, got {level!r}; {did_you_mean(f'{level}', LEVELS)}"
        )
    if level == "sample" and elements is not None:
        raise MentorNetError(
            "elements= says how many elements a sample has, but at level='sample' it has one; "
            "leave it out, or choose a level: token, pixel or class"
        )


class Elements(nn.Module):
    """Numbers the elements of all samples, so that each can be remembered.

    The elements of sample 0 come first, then those of sample 1, and so on. One number more, the
    spare one, stands for all that has no label; nobody reads what is remembered of it.

    Args:
        samples: N, or None.
        counts: how many elements each sample has, `(N,)`, or one number for all.

    >>> elements = Elements(3, [2, 1, 4])
    >>> elements.total
    7
    >>> elements.numbers(torch.tensor([0, 2]), 3, torch.tensor([False] * 2 + [True] + [False] * 3))
    tensor([0, 1, 7, 3, 4, 5])
    >>> elements.places(torch.tensor([0, 1, 6]))
    (tensor([0, 0, 2]), tensor([0, 1, 3]))
    """

    first: Tensor

    def __init__(self, samples: int | None, counts: int | Sequence[int] | Tensor) -> None:
        super().__init__()
        if samples is None:
            raise MentorNetError("elements= needs samples=, the size of the training set")
        each = _counts(samples, counts)
        self.total = int(each.sum())
        if self.total > _MOST:
            raise MentorNetError(
                f"elements= makes {self.total:,} elements, more than {_MOST:,} can be remembered; "
                "leave it out, and each sample is remembered as a whole"
            )
        first = torch.cat([torch.zeros(1, dtype=torch.long), each.cumsum(0)])
        self.register_buffer("first", first, persistent=False)

    @property
    def room(self) -> int:
        """The number of rows of a memory: one for each element, and the spare one."""
        return self.total + 1

    def numbers(self, index: Tensor, width: int, unlabelled: Tensor | None) -> Tensor:
        """Return the number of each element, `(E,)`; what has no label has the spare one.

        Args:
            index: the numbers of the samples, `(B,)`.
            width: S.
            unlabelled: which elements have no label, `(E,)`, or None if all have one.
        """
        place = torch.arange(width, device=index.device)
        number = self.first[index][:, None] + place
        spare = number >= self.first[index + 1][:, None]
        if unlabelled is not None:
            beyond = spare & ~unlabelled.view(-1, width)
            spare = spare | unlabelled.view(-1, width)
        else:
            beyond = spare
        if can_look(number) and bool(beyond.any()):
            row, column = beyond.nonzero()[0].tolist()
            sample = int(index[row])
            has = int(self.first[sample + 1] - self.first[sample])
            raise MentorNetError(
                f"sample {sample} has {has} elements by elements=, but its element {column}, "
                "counted from 0, has a label too"
            )
        return number.masked_fill(spare, self.total).flatten()

    def places(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sample of each element and its place in the sample, from its number."""
        sample = torch.searchsorted(self.first, numbers.contiguous(), right=True) - 1
        return sample, numbers - self.first[sample]


def _counts(samples: int, counts: int | Sequence[int] | Tensor) -> Tensor:
    if isinstance(counts, Tensor | np.ndarray | Sequence) and not isinstance(counts, str):
        each = torch.as_tensor(counts)
        if each.ndim == 0:
            return _counts(samples, each.item())  # type: ignore[arg-type]
        if each.shape != (samples,) or each.is_floating_point() or bool((each < 0).any()):
            raise MentorNetError(
                f"elements must be one number ≥ 0 for each of the {samples} samples, got "
                f"{each.dtype} of shape {tuple(each.shape)}"
                + (f" with {each.min().item()}" if each.numel() and not each.ndim > 1 else "")
            )
        return each.long().cpu()
    try:
        one = operator.index(counts)
    except TypeError:
        one = 0
    if one < 1:
        raise MentorNetError(
            "elements must be how many elements a sample has, a whole number ≥ 1 or one for each "
            f"sample, got {counts!r}"
        )
    return torch.full((samples,), one)


@dataclass(frozen=True, eq=False)
class WholeBatch:
    """The evidence of the elements of all processes, sample by sample.

    Attributes:
        evidence: of all elements, `(E,)`; its `index` has the sample of each.
        width: S, the same in all processes.
        mine: where the elements of this process are.
        own_width: how many elements a sample has in this process.
    """

    evidence: Evidence
    width: int
    mine: slice
    own_width: int

    def ours(self, values: Tensor) -> Tensor:
        """Return the values `(E,)` of the elements of this process."""
        return values[self.mine].view(-1, self.width)[:, : self.own_width].flatten()

    def share(self, world: int) -> Tensor:
        """Return our number of labels over the mean of all processes, a scalar."""
        unlabelled = self.evidence.unlabelled
        if unlabelled is None:
            return torch.ones((), device=self.evidence.losses.device)
        labelled = ~unlabelled
        return labelled[self.mine].sum() * world / labelled.sum().clamp(min=1)

    def of_samples(self, weights: Tensor) -> tuple[Evidence, Tensor]:
        """Return evidence and weights of samples, `(B,)`: means over their labelled elements.

        What has no mean, as labels have none, is unknown.
        """
        seen, width = self.evidence, self.width
        losses, weights = seen.losses.view(-1, width), weights.view(-1, width)
        counted = torch.ones_like(losses, dtype=torch.bool)
        if seen.unlabelled is not None:
            counted = ~seen.unlabelled.view(-1, width)
        count = counted.sum(1)
        losses = losses.masked_fill(~counted, 0.0).sum(1) / count
        weights = (weights * counted).sum(1) / count.clamp(min=1)
        index = None if seen.index is None else seen.index.view(-1, width)[:, 0]
        unlabelled = None if seen.unlabelled is None else count == 0
        samples = Evidence(
            losses, torch.zeros_like(count), torch.full_like(count, -1), index,
            unlabelled=unlabelled,
        )  # fmt: skip
        return samples, weights


def whole_batch(evidence: Evidence, width: int, even: EvenBatches, *, uneven: bool) -> WholeBatch:
    """Return the evidence of the elements of all processes.

    Args:
        evidence: of our elements, `(E,)`; its `index` has the number of each sample, `(B,)`.
        width: how many elements a sample has here.
        even: makes the exchange, and checks that batches are of equal size.
        uneven: whether processes may differ in `width`, as batches of texts are as long as their
            longest text. What is added to the shorter ones has no label.
    """
    processes, look = processes_here(), can_look(evidence.losses)
    if evidence.index is not None and width > 1:
        evidence = replace(evidence, index=evidence.index.repeat_interleave(width))
    widest = width
    if uneven and not processes.alone:
        (widths,) = processes.gather([torch.tensor([width], device=evidence.losses.device)])
        widest = int(widths.max())
        evidence = _widened(evidence, width, widest)
    evidence, mine = gathered(evidence, even, look=look)
    return WholeBatch(evidence.with_unlabelled(look=look), widest, mine, width)


def _widened(evidence: Evidence, width: int, widest: int) -> Evidence:
    fill = {"labels": IGNORE, "predicted": -1}
    columns = {}
    for name, column in vars(evidence).items():
        if column is not None:
            rows = column.view(-1, width)
            if name == "index":
                beside = rows[:, :1].expand(-1, widest - width)
            else:
                beside = rows.new_full((len(rows), widest - width), fill.get(name, torch.nan))
            columns[name] = torch.cat([rows, beside], 1).flatten()
    return replace(evidence, **columns)
