"""How good a student is, on images that it has not been trained on."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mentornet.data import Samples
from mentornet.training.batches import Batches

__all__ = ["Judgement", "judge"]

_MANY_CLASSES, _TOP = 50, 5


class Judgement(NamedTuple):
    """What a student gets right.

    Attributes:
        accuracy: the share of images whose most probable class is right.
        top5: the share whose right class is among the five most probable, where there are 50
            classes or more; else None.
        finite: whether all that it said were numbers.
    """

    accuracy: float
    top5: float | None
    finite: bool

    def named(self, name: str) -> dict[str, float]:
        """As columns of a table: `NAME_accuracy`, `NAME_accuracy_top5`."""
        columns = {f"{name}_accuracy": self.accuracy}
        return columns if self.top5 is None else {**columns, f"{name}_accuracy_top5": self.top5}


@torch.no_grad()
def judge(student: nn.Module, images: Samples, batches: Batches) -> Judgement:
    """Judge by the true labels, where they are known; all processes together.

    Args:
        student: left in its evaluation mode.
        images: to judge on.
        batches: of the training images, which knows how a student sees images.
    """
    student.eval()
    label = images.given_label if images.true_label is None else images.true_label
    mine = batches.processes.share(len(images))
    label, done = label[mine].to(batches.device), 0
    counts = torch.zeros(3, dtype=torch.long, device=batches.device)
    for seen in batches.judged(images.inputs[mine]):
        logits = student(seen)
        counts += _counts(logits, label[done : done + len(seen)], len(images.classes))
        done += len(seen)
    right, among, odd = batches.processes.total(counts).tolist()
    top5 = among / len(images) if len(images.classes) >= _MANY_CLASSES else None
    return Judgement(right / len(images), top5, odd == 0)


def _counts(logits: Tensor, label: Tensor, classes: int) -> Tensor:
    """How many are right, right among the first five, and no numbers."""
    right = (logits.argmax(1) == label).sum()
    among = right
    if classes >= _MANY_CLASSES:
        among = (logits.topk(_TOP).indices == label[:, None]).sum()
    return torch.stack([right, among, (~logits.isfinite()).sum()])
