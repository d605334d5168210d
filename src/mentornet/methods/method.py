"""What every row of the tables is: settings at rest, a supervision while a run lasts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.distributed import Processes
from mentornet.mentors import Mentor
from mentornet.records import margins_of
from mentornet.verdicts import Verdicts
from mentornet.verdicts.lookup import VerdictLookup
from mentornet.weighting import weighted_mean

__all__ = ["Judged", "Method", "Setting", "Step", "Supervision", "Task"]

Setting = float | bool | str | tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Task:
    """What a method may know of the run that it serves.

    Attributes:
        count: N, the training samples.
        classes: K.
        total_steps: of the whole training.
        seed: of whatever the method draws.
        device: where the losses will be.
        verified: what a data-driven mentor learns from, and the student is taught.
        is_correct: whether each given label is true, `(N,)`; only the oracle looks at it.
    """

    count: int
    classes: int
    total_steps: int
    seed: int = 0
    device: torch.device | str = "cpu"
    verified: Verdicts | None = None
    is_correct: Tensor | None = None


class Judged(NamedTuple):
    """A step's whole batch as the records keep it; see `Step`."""

    losses: Tensor
    weights: Tensor | None
    predicted: Tensor
    margins: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """What a step comes to before the student moves.

    Attributes:
        loss: what is descended, a scalar with gradient.
        losses: ℓ of each sample of the whole batch, `(B,)`, as the records keep it.
        weights: v, `(B,)`, or None where samples are not weighed.
        predicted: the student's class for each of them, `(B,)`.
        margins: by how much the given label leads, `(B,)`; None if nobody has asked.
        decays: what weight decay follows where it is not v, `(B,)`.
    """

    loss: Tensor
    losses: Tensor
    weights: Tensor | None
    predicted: Tensor
    margins: Tensor | None = None
    decays: Tensor | None = None

    @property
    def weighed(self) -> Tensor | None:
        """The weights that the loss was taken with, `(B,)`, which weight decay follows."""
        return self.weights if self.decays is None else self.decays


class Supervision:
    """A method at work: what is descended in each step.

    This one is plain training, the mean of the cross-entropy. Most others replace the loss of a
    sample or its weight; who needs more than one look at the images replaces the `step`.

    Attributes:
        weighs: whether weight decay follows the weights, θ₀ · mean(v).
        known: what need not be guessed of verified samples, where the student is taught that.
        processes: the processes that share each step.
    """

    weighs: bool = False
    known: VerdictLookup | None = None
    processes: Processes = Processes()

    def step(self, student: nn.Module, batch: Batch, learning_rate: float) -> Step:
        """Losses, weights with the student fixed, and their weighted mean."""
        logits = student(batch.inputs)
        losses = self.losses(logits, batch)
        judged = self.judge(losses.detach(), logits.detach(), batch, learning_rate)
        mine, count = self.own(judged.weights, batch), len(batch.whole.index)
        each = self.taught(losses, logits, batch)
        return Step(self.total(student, each, mine, batch, count), *judged)

    def judge(self, losses: Tensor, logits: Tensor, batch: Batch, learning_rate: float) -> Judged:
        """What is known of the whole batch, from the losses and logits of our own samples."""
        seen, predicted, margins = self.exchange(losses, logits, batch)
        weights = self.weights(seen, batch.whole, learning_rate)
        return Judged(seen, weights, predicted, margins)

    def exchange(self, losses: Tensor, logits: Tensor, batch: Batch) -> list[Tensor]:
        """Losses, predicted classes and margins of the whole batch, without gradient."""
        said = logits.detach()
        columns = [losses.detach(), said.argmax(1), margins_of(said, batch.given_label)]
        return self.processes.gather(columns, len(batch.whole.index))

    def own(self, weights: Tensor | None, batch: Batch) -> Tensor | None:
        """Of the weights of the whole batch, those of our own samples."""
        if weights is None or self.processes.alone:
            return weights
        return weights[self.processes.share(len(batch.whole.index))]

    def mean(self, losses: Tensor, weights: Tensor | None, count: int) -> Tensor:
        """(1/B) Σ v ℓ over these samples of ours, B being `count`, all of them.

        Gradients are averaged over the processes, so each rank's part counts as often as there are
        processes.
        """
        if len(losses) == count:
            return losses.mean() if weights is None else weighted_mean(weights, losses)
        if weights is not None:
            losses = weights.detach() * losses
        return losses.sum() * (self.processes.world / count)

    def total(
        self, student: nn.Module, losses: Tensor, weights: Tensor | None, batch: Batch, count: int
    ) -> Tensor:
        """The mean, and the part of it that a student's auxiliary head has, if it has one."""
        loss = self.mean(losses, weights, count)
        while isinstance(getattr(student, "module", None), nn.Module):
            student = student.module  # type: ignore[assignment]
        beside = getattr(student, "auxiliary_logits", None)
        if beside is None:
            return loss
        each = nn.functional.cross_entropy(beside, self.taught_label(batch), reduction="none")
        share: float = getattr(student, "auxiliary_share", 1.0)
        return loss + share * self.mean(each, weights, count)

    def losses(self, logits: Tensor, batch: Batch) -> Tensor:
        """ℓ, one value a sample `(B,)`, with gradient, from logits `(B, K)`."""
        return nn.functional.cross_entropy(logits, batch.given_label, reduction="none")

    def taught_label(self, batch: Batch) -> Tensor:
        """The label of each sample that the student is taught, `(B,)`."""
        if self.known is None:
            return batch.given_label
        return self.known.correct(batch.given_label, batch.index)

    def taught(self, losses: Tensor, logits: Tensor, batch: Batch) -> Tensor:
        """What is descended of each sample, `(B,)`: its loss, with the label that is taught."""
        if self.known is None:
            return losses
        label = self.taught_label(batch)
        other = nn.functional.cross_entropy(logits, label, reduction="none")
        return torch.where(label == batch.given_label, losses, other)

    def trust(self, weights: Tensor | None, batch: Batch) -> Tensor | None:
        """How far given labels are trusted, `(B,)`, for the records: v, or v* where it is known.

        A verified sample that is taught another label has weight 1, but its given label has none.
        """
        if weights is None or self.known is None:
            return weights
        return self.known.trust(weights, batch.index)

    def weights(self, losses: Tensor, batch: Batch, learning_rate: float) -> Tensor | None:
        """The weights v of the samples, `(B,)`, without gradient; None: plain mean."""
        return None

    def parameters(self) -> Iterator[nn.Parameter]:
        """What is learned beside the student, with its optimiser."""
        return iter(())

    def figures(self) -> Mapping[str, Tensor | float]:
        """What is worth a line in the log, at any moment."""
        return {}

    def learned(self) -> Mapping[str, Mentor]:
        """Mentors that were learned in this run so far, by name."""
        return {}

    def notes(self) -> list[str]:
        """What the user should hear of, once: emptied by asking."""
        return []

    def state_dict(self) -> dict[str, Any]:
        """All that a later step depends on."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict`."""


@dataclass(frozen=True)
class Method(ABC):
    """A row of the paper's tables: its settings as fields, checked when they are given.

    Attributes:
        name: what it is called on the command line and in tables.
        title: what the paper calls it.
        needs_truth: whether it looks at true labels.
        students: how many it trains side by side; two are a `Pair`.
        shares: whether several processes can share its steps.
        accumulates: whether a batch can be worked through in parts.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs_truth: ClassVar[bool] = False
    students: ClassVar[int] = 1
    shares: ClassVar[bool] = True
    accumulates: ClassVar[bool] = True

    @property
    def student_dropout(self) -> float | None:
        """What the student's dropout is to be, where the method decides it."""
        return None

    @property
    def needs_verified(self) -> bool:
        """Whether it learns from verified samples."""
        return False

    @property
    def uses_verified(self) -> bool:
        """Whether it can learn from verified samples."""
        return self.needs_verified

    @abstractmethod
    def start(self, task: Task) -> Supervision:
        """The method at work on one run."""

    @property
    def settings(self) -> dict[str, Setting]:
        """The hyper-parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
