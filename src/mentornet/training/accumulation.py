"""A batch worked through in parts, so that less has to be kept in memory at once.

The weights of SPADE depend on the losses of the whole batch. So where samples are weighed, the
student looks at every part twice: without gradient for the losses, then, with the weights known,
for the gradients. That takes about 4/3 of the time of one look; keeping the first look's graph
would save no memory. Where samples are not weighed, one look does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.distributed import Processes
from mentornet.methods import Step, Supervision

__all__ = ["Accumulation"]


class Accumulation:
    """Gradients of a whole batch, by looks at its parts.

    The result is that of the whole batch, but for rounding, with students that treat each image
    for itself. Batch norm takes its mean over a part.

    Args:
        fabric: that the student was set up by.
        student: as it was set up.
        parts: how many; of equal size (±1).
    """

    def __init__(self, fabric: Any, student: nn.Module, parts: int) -> None:
        self.fabric, self.student, self.parts = fabric, student, parts

    def step(self, supervision: Supervision, batch: Batch, learning_rate: float) -> Step:
        """What `Supervision.step` returns, with the gradients added up already."""
        judged = mine = None
        if supervision.weighs:
            with _unmoved(self.student, batch.inputs.device):
                logits = torch.cat([self.student(part.inputs) for _, part in self._of(batch)])
                losses = supervision.losses(logits, batch)
            judged = supervision.judge(losses, logits, batch, learning_rate)
            mine = supervision.own(judged.weights, batch)
        total, seen = self._descend(supervision, batch, mine)
        if judged is None:
            judged = supervision.judge(*seen, batch, learning_rate)
        return Step(total, *judged)

    def _descend(
        self, supervision: Supervision, batch: Batch, weights: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The loss of all parts; and our samples' losses and logits."""
        total, each, every = torch.zeros((), device=batch.inputs.device), [], []
        for number, (where, part) in enumerate(self._of(batch), 1):
            with self.fabric.no_backward_sync(self.student, enabled=number < self.parts):
                logits = self.student(part.inputs)
                losses = supervision.losses(logits, part)
                own = None if weights is None else weights[where]
                count = len(batch.whole.index)
                taught = supervision.taught(losses, logits, part)
                loss = supervision.total(self.student, taught, own, part, count)
                self.fabric.backward(loss)
            total = total + loss.detach()
            each.append(losses.detach())
            every.append(logits.detach())
        return total, (torch.cat(each), torch.cat(every))

    def _of(self, batch: Batch) -> Iterator[tuple[slice, Batch]]:
        """Where each part is, and its samples."""
        for place in range(self.parts):
            where = Processes(place, self.parts).share(len(batch.index))
            yield (
                where,
                Batch(
                    batch.index[where], batch.inputs[where], batch.given_label[where], batch.whole
                ),
            )


@contextmanager
def _unmoved(student: nn.Module, device: torch.device) -> Iterator[None]:
    """Inside no gradients; what a look changes, running averages and draws, is put back after."""
    before = [buffer.clone() for buffer in student.buffers()]
    with torch.no_grad():
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            yield
        for buffer, value in zip(student.buffers(), before, strict=True):
            buffer.copy_(value)
