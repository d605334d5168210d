"""A method at work: what it says of every batch, and what it remembers between them.

A method says what is taught and nothing else. Processes, reduction, gradient accumulation, the
auxiliary head and the labels that verdicts put right are the business of `training.step`.
Shapes: B samples of ours in the batch, K classes.
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
    """What the student says of a batch.

    Attributes:
        logits: `(B, K)`, with gradient; of two students those of the first.
        every: of two students the logits of both, `(B, 2, K)`; else None.
    """

    logits: Tensor
    every: Tensor | None = None

    @cached_property
    def log_p(self) -> Tensor:
        """Log-probabilities, `(B, K)`, with gradient; computed once."""
        return self.logits.log_softmax(1)


@dataclass(frozen=True, eq=False)
class Seen:
    """A batch of ours after the student's first look, when its weights are known.

    Attributes:
        batch: the samples.
        said: what the student said of them.
        label: the label that each sample is taught, `(B,)`: the given one, or the true one where a
            verdict knows it.
        losses: ℓ of each sample on that label, `(B,)`, with gradient.
        weights: v of each sample, `(B,)`, or None where samples are not weighted.
        look: gives the student's logits for further inputs, with gradient.
        average: gives the logits of the averaged student, without gradient, for a method that
            needs one (`Needs.student_average`).
    """

    batch: Batch
    said: Outputs
    label: Tensor
    losses: Tensor
    weights: Tensor | None
    look: Callable[[Tensor], Tensor]
    average: Callable[[Tensor], Tensor] | None = None


@dataclass(frozen=True, eq=False)
class Taught:
    """What the student descends: (1/B) Σ w ℓ.

    Attributes:
        losses: ℓ of each sample, `(B,)`, with gradient.
        weights: w of each sample, `(B,)`; None for the plain mean. Weight decay follows them.
        recorded: how far each given label is trusted, `(B,)`, where that is not v.
    """

    losses: Tensor
    weights: Tensor | None = None
    recorded: Tensor | None = None


class Supervision:
    """A method at work on one run; this one is plain training, the mean of the cross-entropy.

    Most methods replace `losses` or `weights`. One that needs more than that replaces `teach`.

    Attributes:
        weighs: whether weight decay follows the weights, θ₀ · mean(v).
        reads_wrong: whether the evidence should hold the loss on a class that is not predicted.
        known: what verdicts say, where the student is taught that.
    """

    weighs: bool = False
    reads_wrong: bool = False
    known: VerdictLookup | None = None

    def begin_epoch(self, epoch: int) -> None:
        """Called before the first step of an epoch, which is counted from 0."""

    def end_epoch(self, epoch: int) -> None:
        """Called after the last step of an epoch."""

    def observe(self, said: Outputs, batch: Batch) -> None:
        """Remember what the student says of a batch; called once a step, before `losses`."""

    def losses(self, said: Outputs, label: Tensor, batch: Batch) -> Tensor:
        """ℓ of each sample on `label`, `(B,)`, with gradient."""
        return nn.functional.nll_loss(said.log_p, label, reduction="none")

    def wrong_losses(self, said: Outputs, predicted: Tensor, first: int) -> Tensor:
        """The loss on a class that is not predicted, `(B,)`, where `reads_wrong` is true.

        Args:
            said: what the student says.
            predicted: the most probable class, `(B,)`.
            first: the place of our first sample in the batch of all processes.
        """
        raise NotImplementedError

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        """The weights v of the batch of all processes, no gradient; None for the plain mean."""
        return None

    def teach(self, seen: Seen) -> Taught:
        """What the student descends on our samples: its losses, weighted."""
        return Taught(seen.losses, seen.weights)

    def parameters(self) -> Iterator[nn.Parameter]:
        """What is learned beside the student, by the same optimiser."""
        return iter(())

    def metrics(self) -> Mapping[str, Tensor | float]:
        """Numbers for the log of an epoch."""
        return {}

    def learned(self) -> Mapping[str, LearnedMentor]:
        """The mentors that were learned in this run so far, by name."""
        return {}

    def outcomes(self) -> list[Outcome]:
        """What came of each update of the mentor so far."""
        return []

    def notes(self) -> list[str]:
        """Lines for the user, each returned once."""
        return []

    def state_dict(self) -> dict[str, Any]:
        """All that a later step depends on."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict`."""
