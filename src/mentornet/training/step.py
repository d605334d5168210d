"""One step of training, Algorithm 1's steps 4 to 12: losses, weights, gradients.

This is the one place that shares a step among processes, reduces losses, accumulates gradients,
trains an auxiliary head, and teaches the labels that verdicts put right. What is taught, the method
says (`Supervision`).

The weights depend on the losses of the whole batch, so the processes exchange a few numbers a
sample once a step, and each works out the weights of all. Where a batch is worked through in parts
and samples are weighted, the student looks at every part twice: without gradient for the losses,
then, with the weights known, for the gradients. That takes about 4/3 of the time of one look;
keeping the graph of the first look would save no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.methods import Outputs, Seen, Supervision, Taught
from mentornet.records import margins_of
from mentornet.weighting import Evidence, weighted_mean

__all__ = ["StepResult", "TrainingStep"]


@dataclass(frozen=True, eq=False)
class StepResult:
    """What a step comes to before the student moves; its gradients are there.

    Attributes:
        loss: what was descended, a scalar without gradient.
        evidence: what is known of the samples of all processes.
        trust: how far their given labels are trusted, `(B,)`; None where samples are not weighted.
        decays: the weights that weight decay follows, `(B,)`; None where it follows none.
    """

    loss: Tensor
    evidence: Evidence
    trust: Tensor | None
    decays: Tensor | None


class TrainingStep:
    """Makes the gradients of one batch.

    Args:
        fabric: that the student was set up by.
        student: as it was set up.
        supervision: the method at work.
        processes: those that share each step.
        parts: how many parts of equal size (±1) a batch is worked through in. The result is that of
            the whole batch, but for rounding, with students that treat each sample by itself; batch
            norm takes its mean over a part.
        looks_again: whether the first look needs no gradient (`Needs.looks_again`).
        average: the averaged student, for a method that needs it.
    """

    def __init__(
        self,
        fabric: Any,
        student: nn.Module,
        supervision: Supervision,
        processes: Processes,
        *,
        parts: int = 1,
        looks_again: bool = False,
        average: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.fabric, self.student, self.supervision = fabric, student, supervision
        self.processes, self.parts, self.looks_again = processes, parts, looks_again
        self.average, self.alone = average, processes.alone
        self.beside = list(supervision.parameters())
        self.weighted = type(supervision).weights is not Supervision.weights

    def take(self, batch: Batch, learning_rate: float) -> StepResult:
        """Losses, weights with the student fixed, and the gradients of their weighted mean."""
        if self.parts > 1:
            return self._take_in_parts(batch, learning_rate)
        with torch.set_grad_enabled(not self.looks_again):
            said = self._look(batch.inputs)
        self.supervision.observe(said, batch)
        losses = self.supervision.losses(said, batch.given_label, batch)
        evidence = self._evidence(said, losses, batch)
        weights = self.supervision.weights(evidence, learning_rate)
        own = weights if self.alone else self._own(weights, batch)
        loss, taught = self._descend(said, losses, own, batch)
        return self._result(loss, evidence, weights, taught)

    def _take_in_parts(self, batch: Batch, learning_rate: float) -> StepResult:
        weights = evidence = None
        parts = [
            Processes(place, self.parts).share(len(batch.index)) for place in range(self.parts)
        ]
        if self.weighted:
            with _unmoved(self.student, batch.inputs.device):
                logits = [self._look(batch.inputs[part]).logits for part in parts]
                said = Outputs(torch.cat(logits))
                losses = self.supervision.losses(said, batch.given_label, batch)
            evidence = self._evidence(said, losses, batch)
            weights = self.supervision.weights(evidence, learning_rate)
        own = weights if self.alone else self._own(weights, batch)
        total, every, each = torch.zeros((), device=batch.inputs.device), [], []
        for number, part in enumerate(parts, 1):
            rows = batch.rows(part)
            with self.fabric.no_backward_sync(self.student, enabled=number < self.parts):
                said = self._look(rows.inputs)
                self.supervision.observe(said, rows)
                losses = self.supervision.losses(said, rows.given_label, rows)
                loss, taught = self._descend(said, losses, None if own is None else own[part], rows)
            total = total + loss
            every.append(said.logits.detach())
            each.append(losses.detach())
        if evidence is None:
            evidence = self._evidence(Outputs(torch.cat(every)), torch.cat(each), batch)
        return self._result(total, evidence, weights, taught)

    def _look(self, inputs: Tensor) -> Outputs:
        """What the student says; of two students, the first one's logits stand for both."""
        logits = self.student(inputs)
        return Outputs(logits) if logits.ndim == 2 else Outputs(logits[:, 0], logits)

    @torch.no_grad()
    def _evidence(self, said: Outputs, losses: Tensor, batch: Batch) -> Evidence:
        """What is known of the samples of all processes, by one exchange."""
        if losses.shape != batch.given_label.shape:
            raise _wrong_shape("loss", losses, batch)
        logits, losses = said.logits.detach(), losses.detach()
        predicted = logits.argmax(1)
        margins = margins_of(logits, batch.given_label)
        whole, columns = batch if self.alone else batch.whole, [losses, predicted, margins]
        if self.supervision.reads_wrong:
            first = 0 if self.alone else self.processes.share(len(whole.index)).start
            columns.append(self.supervision.wrong_losses(said, predicted, first))
        if not self.alone:
            columns = self.processes.gather(columns, len(whole.index))
        losses, predicted, margins, *wrong = columns
        return Evidence(
            losses, whole.given_label, predicted, whole.index, wrong[0] if wrong else None, margins
        )

    def _own(self, weights: Tensor | None, batch: Batch) -> Tensor | None:
        """Of the weights of all processes, those of our samples."""
        return None if weights is None else weights[self.processes.share(len(batch.whole.index))]

    def _descend(
        self, said: Outputs, losses: Tensor, weights: Tensor | None, batch: Batch
    ) -> tuple[Tensor, Taught]:
        """The gradients of our part of (1/B) Σ w ℓ, B being the size of the whole batch."""
        known, label = self.supervision.known, batch.given_label
        if known is not None:
            label = known.correct(label, batch.index)
            right = self.supervision.losses(said, label, batch)
            losses = torch.where(label == batch.given_label, losses, right)
        seen = Seen(batch, said, label, losses, weights, self.student, self.average)
        taught = self.supervision.teach(seen)
        for what, given in (("loss", taught.losses), ("weight", taught.weights)):
            if given is not None and given.shape != label.shape:
                raise _wrong_shape(what, given, batch)
        loss = self._mean(taught.losses, taught.weights, batch)
        student: Any = self.student
        while isinstance(getattr(student, "module", None), nn.Module):
            student = student.module
        beside = getattr(student, "auxiliary_logits", None)
        if beside is not None:
            each = self.supervision.losses(Outputs(beside), label, batch)
            loss = loss + student.auxiliary_share * self._mean(each, taught.weights, batch)
        self.fabric.backward(loss)
        return loss.detach(), taught

    def _mean(self, losses: Tensor, weights: Tensor | None, batch: Batch) -> Tensor:
        """(1/B) Σ w ℓ over our samples, B being the number of samples of all processes.

        Gradients are averaged over the processes, so each one's part counts as often as there are
        processes.
        """
        if self.alone and self.parts == 1:
            return losses.mean() if weights is None else weighted_mean(weights, losses)
        if weights is not None:
            losses = weights.detach() * losses
        return losses.sum() * (self.processes.world / len(batch.whole.index))

    def _result(
        self, loss: Tensor, evidence: Evidence, weights: Tensor | None, taught: Taught
    ) -> StepResult:
        """A verified sample that is taught another label has weight 1, but its given label none."""
        for parameter in self.beside:
            if parameter.grad is not None and not self.alone:
                parameter.grad = self.processes.total(parameter.grad) / self.processes.world
        trust, known = (
            weights if taught.recorded is None else taught.recorded,
            self.supervision.known,
        )
        if trust is not None and known is not None and evidence.index is not None:
            trust = known.trust(trust, evidence.index)
        decays = None
        if self.supervision.weighs:
            decays = weights if self.parts > 1 or not self.looks_again else taught.weights
        return StepResult(loss if self.alone else evidence.losses.mean(), evidence, trust, decays)


def _wrong_shape(what: str, given: Tensor, batch: Batch) -> MentorNetError:
    return MentorNetError(
        f"the method must give one {what} a sample, {tuple(batch.given_label.shape)}, got a tensor "
        f"of shape {tuple(given.shape)}"
    )


@contextmanager
def _unmoved(student: nn.Module, device: torch.device) -> Iterator[None]:
    """Inside, no gradients; running averages and random draws are put back afterwards."""
    before = [buffer.clone() for buffer in student.buffers()]
    with torch.no_grad():
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            yield
        for buffer, value in zip(student.buffers(), before, strict=True):
            buffer.copy_(value)
