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

import numpy as np
import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean
from mentornet.weighting.label_checks import can_look

__all__ = ["LEVELS", "Elements", "check_groups_level", "check_level"]

LEVELS = {
    "sample": "every sample of the batch",
    "token": "every token, with logits (B, T, K) and labels (B, T)",
    "text": "every text, by the mean loss of its tokens, with logits (B, T, K) and labels (B, T)",
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
    if level in ("sample", "text") and elements is not None:
        raise MentorNetError(
            f"elements= says how many elements a sample has, but at level={level!r} it has one; "
            "leave it out, or choose a level: token, pixel or class"
        )


def check_groups_level(level: str) -> None:
    """Raise if elements of this level cannot share a weight."""
    if level not in ("token", "pixel"):
        raise MentorNetError(f"groups= joins tokens or pixels, but level is {level!r}")


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
        numbers = numbers.to(self.first.device)
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
