"""Early-learning regularisation (Liu et al. 2020): stay close to early predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.curricula.curriculum import check_not_negative
from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.memory import PredictionMemory
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Outputs, Supervision
from mentornet.weighting import clipped, early_learning_term

__all__ = ["EarlyLearning"]


class _EarlyLearning(Supervision):
    def __init__(self, memory: PredictionMemory, strength: float) -> None:
        self.memory, self.strength = memory, strength

    def observe(self, outputs: Outputs, batch: Batch) -> None:
        p = clipped(outputs.logits.detach().softmax(1))
        self.memory.add(batch.index, p / p.sum(1, keepdim=True))

    def losses(self, outputs: Outputs, label: Tensor, batch: Batch) -> Tensor:
        p = clipped(outputs.logits.softmax(1))
        term = early_learning_term(p, self.memory.average[batch.index])
        return super().losses(outputs, label, batch) + self.strength * term

    def state_dict(self) -> dict[str, Any]:
        return {"memory": self.memory.average.clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.memory.average = state["memory"].to(self.memory.average.device)


@dataclass(frozen=True)
class EarlyLearning(Method):
    """ℓ = −log p_y + λ log(1 − ⟨p, t⟩), with t a moving average of a sample's predictions.

    Args:
        strength: λ ≥ 0; its paper uses 3 on CIFAR-10 and 7 on CIFAR-100.
        decay: β of the moving average, in [0, 1); its paper uses 0.7 and 0.9.
    """

    name: ClassVar[str] = "elr"
    title: ClassVar[str] = "ELR"
    summary: ClassVar[str] = "holds on to early predictions (Liu et al. 2020)"
    strength: float = 3.0
    decay: float = 0.7

    def __post_init__(self) -> None:
        check_not_negative(strength=self.strength)
        if not 0 <= self.decay < 1:
            raise MentorNetError(f"decay must be in [0, 1), got {self.decay:g}")

    @property
    def needs(self) -> Needs:
        return Needs(one_process=True)

    def start(self, task: Task) -> Supervision:
        memory = PredictionMemory(task.count, task.classes, self.decay, task.device)
        return _EarlyLearning(memory, self.strength)
