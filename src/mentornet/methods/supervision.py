"""Supervision: a method at work on one run, with its state.

A supervision only decides what the student is taught in each batch. `training.step` does the rest:
processes, reduction, gradient accumulation, the auxiliary head and corrected labels.
Shapes: B samples of this process in the batch, K classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.verdicts import VerdictLookup
from mentornet.weighting import Evidence, LearnedMentor, Outcome

__all__ = ["Outputs", "Seen", "Supervision", "Taught"]


@dataclass(eq=False)
class Outputs:
    """The student's outputs for a batch.

    Attributes:
        logits: the logits, `(B, K)`, with gradient; if there are two students, those of the first.
        every: the logits of both students, `(B, 2, K)`, if there are two; else None.
        auxiliary: the logits of the student's auxiliary head, in the shape that the student's have;
            None if it has no such head. The step teaches them; a method need not read them.
    """

    logits: Tensor
    every: Tensor | None = None
    auxiliary: Tensor | None = None

    @cached_property
    def log_p(self) -> Tensor:
        """The log-probabilities, `(B, K)`, with gradient; they are computed once."""
        return self.logits.log_softmax(1)


@dataclass(frozen=True, eq=False)
class Seen:
    """A batch of this process after the student's first forward pass, with its weights.

    Attributes:
        batch: the samples.
        outputs: the student's outputs for them.
        label: the label that each sample is taught, `(B,)`: the true label if a verdict has it,
            else the given label.
        losses: ℓ of each sample on that label, `(B,)`, with gradient.
        weights: v of each sample, `(B,)`, or None if samples are not weighted.
        look: a function that returns the student's logits for further inputs, with gradient.
        average: a function that returns the logits of the averaged student, without gradient; None
            unless the method needs one (`Needs.student_average`).
    """

    batch: Batch
    outputs: Outputs
    label: Tensor
    losses: Tensor
    weights: Tensor | None
    look: Callable[[Tensor], Tensor]
    average: Callable[[Tensor], Tensor] | None = None


@dataclass(frozen=True, eq=False)
class Taught:
    """The objective that the student minimises: (1/B) Σ w ℓ.

    Attributes:
        losses: ℓ of each sample, `(B,)`, with gradient.
        weights: w of each sample, `(B,)`; None for the plain mean. Weight decay follows them.
        recorded: how far each given label is trusted, `(B,)`, for the records; None for v.
        of_logits: a function that returns ℓ from logits of the last forward pass, which an
            auxiliary head is taught with; None if ℓ is `Supervision.losses` of the first pass.
    """

    losses: Tensor
    weights: Tensor | None = None
    recorded: Tensor | None = None
    of_logits: Callable[[Tensor], Tensor] | None = None


class Supervision:
    """A method at work on one run; this base class is plain training with the cross-entropy.

    Most methods override `losses` or `weights`. If that is not enough, a method overrides `teach`.

    Attributes:
        weighs: whether weight decay follows the weights, θ₀ · mean(v).
        reads_wrong: whether the evidence should have the loss on a class that is not predicted.
        reads_predictions: whether the evidence should have the predicted probabilities.
        known: the look-up of verdicts, if the student is taught them.
    """

    weighs: bool = False
    reads_wrong: bool = False
    reads_predictions: bool = False
    known: VerdictLookup | None = None

    def begin_epoch(self, epoch: int) -> None:
        """Called before the first step of an epoch; epochs are counted from 0."""

    def end_epoch(self, epoch: int) -> None:
        """Called after the last step of an epoch."""

    def observe(self, outputs: Outputs, batch: Batch) -> None:
        """Store what is needed of the student's outputs; called once per step, before `losses`."""

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        """Return ℓ of each sample on `label`, `(B,)`, with gradient."""
        return nn.functional.nll_loss(outputs.log_p, label, reduction="none")

    def wrong_losses(self, outputs: Outputs, predicted: Tensor, first: int) -> Tensor:
        """Return the loss on a class that is not predicted, `(B,)`; called if `reads_wrong`.

        Args:
            outputs: the student's outputs.
            predicted: the most probable class, `(B,)`.
            first: the place of our first sample in the batch of all processes.
        """
        raise NotImplementedError

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        """Return v of the batch of all processes, without gradient; None for the plain mean."""
        return None

    def teach(self, seen: Seen) -> Taught:
        """Return the objective on our samples, by default the weighted losses."""
        return Taught(seen.losses, seen.weights)

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return parameters that the optimiser learns in addition to the student's."""
        return iter(())

    def metrics(self) -> Mapping[str, Tensor | float]:
        """Return metrics for the log of an epoch."""
        return {}

    def learned(self) -> Mapping[str, LearnedMentor]:
        """Return the mentors that were learned in this run so far, by name."""
        return {}

    def outcomes(self) -> list[Outcome]:
        """Return the result of each update of the mentor so far."""
        return []

    def notes(self) -> list[str]:
        """Return new lines for the user; each is returned once."""
        return []

    def state_dict(self) -> dict[str, Any]:
        """Return everything that later steps depend on."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a `state_dict`."""
