"""Co-teaching (Han et al. 2018): two students choose easy samples for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Seen, Supervision, Taught

__all__ = ["CoTeaching", "smallest"]


def smallest(losses: Tensor, share: float) -> Tensor:
    """Return 1 for this share of samples with the smallest losses, 0 for the others, `(B,)`.

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
        """Return R(t) = 1 − τ min(t / T_k, 1), the share of a batch that is kept now."""
        risen = min(1.0, self.steps / max(1.0, self.rise * self.total_steps))
        return 1 - self.forget * risen

    def teach(self, seen: Seen) -> Taught:
        assert seen.outputs.every is not None
        second = F.cross_entropy(seen.outputs.every[:, 1], seen.label, reduction="none")
        share = self.share()
        self.steps += 1
        by_first, by_second = (smallest(losses.detach(), share) for losses in (seen.losses, second))
        kept = by_first.sum() / len(by_first)

        def of_logits(logits: Tensor) -> Tensor:  # of both students, (B, 2, K)
            one, two = (
                F.cross_entropy(logits[:, place], seen.label, reduction="none") for place in (0, 1)
            )
            return (by_second * one + by_first * two) / kept

        each = (by_second * seen.losses + by_first * second) / kept
        return Taught(each, recorded=by_second, of_logits=of_logits)

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]


@dataclass(frozen=True)
class CoTeaching(Method):
    """Each of two students learns the samples whose losses are smallest for the other.

    The first student is evaluated. A step costs twice as much as in plain training.

    Args:
        forget: τ in [0, 1), the share of a batch that is left out in the end. Its paper uses the
            noise rate, which has to be known.
        rise: T_k in [0, 1), the share of training in which the share left out rises to τ.
    """

    name: ClassVar[str] = "co-teaching"
    title: ClassVar[str] = "Co-teaching"
    summary: ClassVar[str] = "two students pick easy samples for each other (Han et al. 2018)"
    forget: float = 0.4
    rise: float = 0.1

    def __post_init__(self) -> None:
        for name in ("forget", "rise"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise MentorNetError(f"{name} must be in [0, 1), got {value:g}")

    @property
    def needs(self) -> Needs:
        return Needs(students=2, one_process=True, whole_batch=True)

    def start(self, task: Task) -> Supervision:
        return _CoTeaching(task, self.forget, self.rise)
