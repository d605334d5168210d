"""One step of training, Algorithm 1's steps 4 to 12: losses, weights, gradients.

Only this module splits a step among processes, reduces losses, accumulates gradients, trains an
auxiliary head, and corrects labels by verdicts. The method (`Supervision`) decides what is taught.

The weights depend on the losses of the whole batch. So the processes exchange a few numbers per
sample once per step, and each of them computes the weights of all samples. If a batch is split into
parts and samples are weighted, each part takes two forward passes: one without gradient for the
losses, then one with the weights for the gradients. That takes about 4/3 of the time of one pass;
to keep the graph of the first pass would save no memory.
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
    """The result of a step, after the backward pass and before the optimiser's step.

    Attributes:
        loss: the value of the objective, a scalar without gradient.
        evidence: the evidence of the samples of all processes.
        trust: how far their given labels are trusted, `(B,)`; None if samples are not weighted.
        decays: the weights that weight decay follows, `(B,)`; None if it follows none.
    """

    loss: Tensor
    evidence: Evidence
    trust: Tensor | None
    decays: Tensor | None


class TrainingStep:
    """Computes the gradients of one batch.

    Args:
        fabric: the Fabric that has set up the student.
        student: the student, as Fabric has set it up.
        supervision: decides what is taught.
        processes: the processes among which each step is split.
        parts: the number of parts of equal size (±1) that a batch is split into. Up to rounding,
            the result is that of the whole batch, unless the student mixes samples: batch norm
            takes its mean over a part.
        looks_again: whether the first forward pass needs no gradient (`Needs.looks_again`).
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
        self.inner, self.beside = _inner(student), list(supervision.parameters())
        self.weighted = type(supervision).weights is not Supervision.weights

    def take(self, batch: Batch, learning_rate: float) -> StepResult:
        """Compute the losses, the weights, and the gradients of the weighted mean."""
        if self.parts > 1:
            return self._take_in_parts(batch, learning_rate)
        with torch.set_grad_enabled(not self.looks_again):
            outputs = self._look(batch.inputs)
        self.supervision.observe(outputs, batch)
        losses = self.supervision.losses(outputs, batch.given_label, batch)
        evidence = self._evidence(outputs, losses, batch)
        weights = self.supervision.weights(evidence, learning_rate)
        own = weights if self.alone else self._own(weights, batch)
        loss, taught = self._descend(outputs, losses, own, batch)
        return self._result(loss, evidence, weights, taught)

    def _take_in_parts(self, batch: Batch, learning_rate: float) -> StepResult:
        weights = evidence = None
        parts = [
            Processes(place, self.parts).share(len(batch.index)) for place in range(self.parts)
        ]
        if self.weighted:
            with _unmoved(self.student, batch.inputs.device):
                logits = [self._look(batch.inputs[part]).logits for part in parts]
                outputs = Outputs(torch.cat(logits))
                losses = self.supervision.losses(outputs, batch.given_label, batch)
            evidence = self._evidence(outputs, losses, batch)
            weights = self.supervision.weights(evidence, learning_rate)
        own = weights if self.alone else self._own(weights, batch)
        total, every, each = torch.zeros((), device=batch.inputs.device), [], []
        for number, part in enumerate(parts, 1):
            rows = batch.rows(part)
            with self.fabric.no_backward_sync(self.student, enabled=number < self.parts):
                outputs = self._look(rows.inputs)
                self.supervision.observe(outputs, rows)
                losses = self.supervision.losses(outputs, rows.given_label, rows)
                mine = None if own is None else own[part]
                loss, taught = self._descend(outputs, losses, mine, rows)
            total = total + loss
            every.append(outputs.logits.detach())
            each.append(losses.detach())
        if evidence is None:
            evidence = self._evidence(Outputs(torch.cat(every)), torch.cat(each), batch)
        return self._result(total, evidence, weights, taught)

    def _look(self, inputs: Tensor) -> Outputs:
        """Return the student's outputs; if there are two students, `logits` are of the first."""
        logits = self.student(inputs)
        auxiliary = getattr(self.inner, "auxiliary_logits", None)
        if logits.ndim == 2:
            return Outputs(logits, auxiliary=auxiliary)
        return Outputs(logits[:, 0], logits, auxiliary)

    @torch.no_grad()
    def _evidence(self, outputs: Outputs, losses: Tensor, batch: Batch) -> Evidence:
        """Return the evidence of the samples of all processes, by one exchange."""
        if losses.shape != batch.given_label.shape:
            raise _wrong_shape("loss", losses, batch)
        logits, losses = outputs.logits.detach(), losses.detach()
        predicted = logits.argmax(1)
        margins = margins_of(logits, batch.given_label)
        whole, columns = batch if self.alone else batch.whole, [losses, predicted, margins]
        if self.supervision.reads_wrong:
            first = 0 if self.alone else self.processes.share(len(whole.index)).start
            columns.append(self.supervision.wrong_losses(outputs, predicted, first))
        classes = 0
        if self.supervision.reads_predictions:
            classes = logits.shape[1]
            columns += outputs.log_p.detach().exp().unbind(1)
        if not self.alone:
            columns = self.processes.gather(columns, len(whole.index))
        own = len(columns) - classes
        losses, predicted, margins, *wrong = columns[:own]
        return Evidence(
            losses, whole.given_label, predicted, whole.index, wrong[0] if wrong else None, margins,
            probabilities=torch.stack(columns[own:], 1) if classes else None,
        )  # fmt: skip

    def _own(self, weights: Tensor | None, batch: Batch) -> Tensor | None:
        """Return the weights of our samples, from those of all processes."""
        return None if weights is None else weights[self.processes.share(len(batch.whole.index))]

    def _descend(
        self, outputs: Outputs, losses: Tensor, weights: Tensor | None, batch: Batch
    ) -> tuple[Tensor, Taught]:
        """Compute the gradients of our part of (1/B) Σ w ℓ, where B counts the whole batch."""
        known, label = self.supervision.known, batch.given_label
        if known is not None:
            label = known.correct(label, batch.index)
            right = self.supervision.losses(outputs, label, batch)
            losses = torch.where(label == batch.given_label, losses, right)
        seen = Seen(batch, outputs, label, losses, weights, self.student, self.average)
        taught = self.supervision.teach(seen)
        for what, given in (("loss", taught.losses), ("weight", taught.weights)):
            if given is not None and given.shape != label.shape:
                raise _wrong_shape(what, given, batch)
        loss = self._mean(taught.losses, taught.weights, batch)
        if outputs.auxiliary is not None:
            loss = loss + self._auxiliary(outputs, taught, label, batch)
        if loss.requires_grad:  # or all parameters of the student are frozen
            self.fabric.backward(loss)
        return loss.detach(), taught

    def _auxiliary(self, outputs: Outputs, taught: Taught, label: Tensor, batch: Batch) -> Tensor:
        """Return what an auxiliary head adds to the loss: its share of the method's own loss."""
        last = self.looks_again or taught.of_logits is not None
        logits: Any = self.inner.auxiliary_logits if last else outputs.auxiliary
        if taught.of_logits is not None:
            each = taught.of_logits(logits)
        else:
            each = self.supervision.losses(Outputs(logits), label, batch)
        share: float = self.inner.auxiliary_share
        return share * self._mean(each, taught.weights, batch)

    def _mean(self, losses: Tensor, weights: Tensor | None, batch: Batch) -> Tensor:
        """Return (1/B) Σ w ℓ over our samples, where B counts the samples of all processes.

        It is multiplied by the number of processes, because their gradients are averaged.
        """
        if self.alone and self.parts == 1:
            return losses.mean() if weights is None else weighted_mean(weights, losses)
        if weights is not None:
            losses = weights.detach() * losses
        return losses.sum() * (self.processes.world / len(batch.whole.index))

    def _result(
        self, loss: Tensor, evidence: Evidence, weights: Tensor | None, taught: Taught
    ) -> StepResult:
        """Return the result; a label that a verdict has corrected has weight 1, but no trust."""
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


def _inner(student: Any) -> Any:
    """Return the student itself, without the wrappers of Fabric and DDP."""
    while isinstance(getattr(student, "module", None), nn.Module):
        student = student.module
    return student


def _wrong_shape(what: str, given: Tensor, batch: Batch) -> MentorNetError:
    return MentorNetError(
        f"the method must return one {what} per sample, {tuple(batch.given_label.shape)}, got a "
        f"tensor of shape {tuple(given.shape)}"
    )


@contextmanager
def _unmoved(student: nn.Module, device: torch.device) -> Iterator[None]:
    """Disable gradients inside; then restore running statistics and the random state."""
    before = [buffer.clone() for buffer in student.buffers()]
    with torch.no_grad():
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            yield
        for buffer, value in zip(student.buffers(), before, strict=True):
            buffer.copy_(value)
