"""Evaluate a student on images that it was not trained on."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mentornet.data import Samples
from mentornet.training.batches import Batches

__all__ = ["Evaluation", "evaluate"]

_MANY_CLASSES, _TOP = 50, 5


class Evaluation(NamedTuple):
    """How many images a student classifies correctly.

    Attributes:
        accuracy: the share of images whose most probable class is correct.
        top5: the share of images whose correct class is among the five most probable; None if
            there are fewer than 50 classes.
        finite: whether all of the student's outputs are finite numbers.
    """

    accuracy: float
    top5: float | None
    finite: bool

    def named(self, name: str) -> dict[str, float]:
        """Return the metrics by name: `NAME_accuracy`, and `NAME_accuracy_top5` if there is one."""
        columns = {f"{name}_accuracy": self.accuracy}
        return columns if self.top5 is None else {**columns, f"{name}_accuracy_top5": self.top5}


@torch.no_grad()
def evaluate(student: nn.Module, images: Samples, batches: Batches) -> Evaluation:
    """Evaluate the student, on all processes together.

    Args:
        student: the network; it is left in evaluation mode.
        images: what to evaluate on: their true labels if these are known, else the given ones.
        batches: the batches of the training images, which know how to prepare images.
    """
    student.eval()
    label = images.given_label if images.true_label is None else images.true_label
    mine = batches.processes.share(len(images))
    label, done = label[mine].to(batches.device), 0
    counts = torch.zeros(3, dtype=torch.long, device=batches.device)
    for seen in batches.evaluation_inputs(images.inputs[mine]):
        logits = student(seen)
        counts += _counts(logits, label[done : done + len(seen)], len(images.classes))
        done += len(seen)
    right, among, odd = batches.processes.total(counts).tolist()
    top5 = among / len(images) if len(images.classes) >= _MANY_CLASSES else None
    return Evaluation(right / len(images), top5, odd == 0)


def _counts(logits: Tensor, label: Tensor, classes: int) -> Tensor:
    """Count what is correct, correct among the top five, and not finite, `(3,)`."""
    right = (logits.argmax(1) == label).sum()
    among = right
    if classes >= _MANY_CLASSES:
        among = (logits.topk(_TOP).indices == label[:, None]).sum()
    return torch.stack([right, among, (~logits.isfinite()).sum()])
