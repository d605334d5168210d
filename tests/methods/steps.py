"""A method at work on a student, step by step, without a trainer around it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.distributed import Processes
from mentornet.methods import Method, Task
from mentornet.training.step import StepResult, TrainingStep
from mentornet.weighting import Evidence

__all__ = ["AtWork", "PlainFabric"]


class PlainFabric:
    """What a step needs of Fabric, for a student that was not set up by it."""

    def backward(self, loss: Tensor) -> None:
        """Make the gradients."""
        loss.backward()

    def no_backward_sync(
        self, student: nn.Module, *, enabled: bool
    ) -> AbstractContextManager[None]:
        """Nothing is shared, so nothing has to wait."""
        return nullcontext()


class AtWork:
    """A method that was started; `step` makes the gradients of one batch, which stay in `.grad`.

    Args:
        method: with its settings.
        task: what it works on.
        parts: how many parts a batch is worked through in.
        processes: those that share each step.

    Attributes:
        supervision: the method at work.
        weights: what it gave in the last step, for all samples of the batch.
    """

    def __init__(
        self, method: Method, task: Task, *, parts: int = 1, processes: Processes | None = None
    ) -> None:
        self.supervision, self.needs, self.parts = method.start(task), method.needs, parts
        self.processes = processes or Processes()
        self.weights: Tensor | None = None
        self._give = self.supervision.weights
        setattr(self.supervision, "weights", self._remember)  # noqa: B010

    def _remember(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        self.weights = self._give(evidence, learning_rate)
        return self.weights

    def step(self, student: nn.Module, batch: Batch, learning_rate: float = 0.1) -> StepResult:
        """Fresh gradients of one batch."""
        student.zero_grad()
        for parameter in self.supervision.parameters():
            parameter.grad = None
        return TrainingStep(
            PlainFabric(), student, self.supervision, self.processes, parts=self.parts,
            looks_again=self.needs.looks_again,
        ).take(batch, learning_rate)  # fmt: skip
