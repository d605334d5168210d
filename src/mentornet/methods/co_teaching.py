"""Co-teaching (Han et al. 2018): two students pick for each other what is easy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Step, Supervision, Task
from mentornet.records import margins_of

__all__ = ["CoTeaching", "smallest"]


def smallest(losses: Tensor, share: float) -> Tensor:
    """1 for the given share of samples with the smallest losses, 0 for the others, `(B,)`.

    >>> smallest(torch.tensor([0.3, 2.0, 0.1, 1.0]), 0.5)
    tensor([1., 0., 1., 0.])
    """
    kept = losses.argsort()[: max(1, int(share * len(losses)))]
    return torch.zeros_like(losses).index_fill(0, kept, 1.0)


class _CoTeaching(Supervision):
    def __init__(self, task: Task, forget: float, rise: float) -> None:
        self.forget, self.rise, self.total_steps = forget, rise, task.total_steps
        self.steps = 0

    def share(self) -> float:
        """R(t) = 1 − τ min(t / T_k, 1): how much of a batch is kept now."""
        risen = min(1.0, self.steps / max(1.0, self.rise * self.total_steps))
        return 1 - self.forget * risen

    def step(self, student: nn.Module, batch: Batch, learning_rate: float) -> Step:
        logits = student(batch.inputs)
        losses = torch.stack([self.losses(logits[:, one], batch) for one in range(2)], 1)  # (B, 2)
        share = self.share()
        chosen = [smallest(losses[:, one].detach(), share) for one in range(2)]
        crossed = torch.stack(chosen[::-1], 1)
        self.steps += 1
        loss = (crossed * losses).sum() / chosen[0].sum()
        said = logits[:, 0].detach()
        margins = margins_of(said, batch.given_label)
        return Step(loss, losses[:, 0].detach(), chosen[1], said.argmax(1), margins)

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]


@dataclass(frozen=True)
class CoTeaching(Method):
    """Each of two students learns the samples whose losses are smallest for the other.

    The first one is judged. A step costs twice as much as plain training's.

    Args:
        forget: τ, the share of a batch that is left out in the end; its paper takes the noise
            rate, which has to be known.
        rise: T_k, the share of training in which the share left out rises to τ.
    """

    name: ClassVar[str] = "co-teaching"
    title: ClassVar[str] = "Co-teaching"
    shares: ClassVar[bool] = False
    accumulates: ClassVar[bool] = False
    students: ClassVar[int] = 2
    forget: float = 0.4
    rise: float = 0.1

    def __post_init__(self) -> None:
        for name in ("forget", "rise"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise MentorNetError(f"{name} must be in [0, 1), got {value:g}")

    def start(self, task: Task) -> Supervision:
        return _CoTeaching(task, self.forget, self.rise)
