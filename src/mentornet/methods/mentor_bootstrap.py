"""Our own: what the mentor does not trust is not dropped, but relabelled by the student."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mentornet.curricula.curriculum import check_not_negative
from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.memory import PredictionMemory
from mentornet.methods.mentornet_auto import DropIn
from mentornet.methods.mentornet_dd import MentorNetDD
from mentornet.methods.method import Step, Supervision, Task
from mentornet.methods.mixing import Mixer, blend, blended_loss
from mentornet.records import margins_of
from mentornet.weighting import MentorLoss
from mentornet.weighting.relearning import LearnedMentor

__all__ = ["MentorBootstrap", "trusted_target"]


def trusted_target(given_label: Tensor, weight: Tensor, belief: Tensor) -> Tensor:
    """T = v y + (1 − v) q: the label as far as the mentor trusts it, else what is believed.

    Args:
        given_label: y, `(B,)`.
        weight: v, `(B,)`.
        belief: q, shares of the classes, `(B, K)`.

    >>> trusted_target(torch.tensor([0]), torch.tensor([0.25]), torch.tensor([[0.0, 1.0]]))
    tensor([[0.2500, 0.7500]])
    """
    label = nn.functional.one_hot(given_label, belief.shape[1]).to(belief.dtype)
    weight = weight[:, None].to(belief.dtype)
    return weight * label + (1 - weight) * belief


class _Bootstrap(Supervision):
    def __init__(
        self, mentor: Supervision, memory: PredictionMemory, mixer: Mixer | None, begins: float
    ) -> None:
        self.mentor, self.memory, self.mixer, self.begins = mentor, memory, mixer, begins
        self.known = mentor.known
        self.steps = 0

    def step(self, student: nn.Module, batch: Batch, learning_rate: float) -> Step:
        with torch.set_grad_enabled(self.mixer is None):
            logits = student(batch.inputs)
        losses = self.losses(logits.detach(), batch)
        weights = self.weigh(losses, logits.detach(), batch, learning_rate)
        self.memory.add(batch.index, logits.detach().softmax(1))
        label, belief = self.mentor.taught_label(batch), self.memory.shares(batch.index)
        target = trusted_target(label, weights, belief)
        if self.mixer is None:
            each = -(target * logits.log_softmax(1)).sum(1)
        else:
            share, partner = self.mixer.draw(torch.ones_like(weights))
            mixed = student(blend(batch.inputs, share, partner))
            each = blended_loss(mixed, target, share, partner)
        self.steps += 1
        said = logits.detach()
        margins = margins_of(said, batch.given_label)
        return Step(each.mean(), losses, weights, said.argmax(1), margins)

    def weigh(self, losses: Tensor, logits: Tensor, batch: Batch, learning_rate: float) -> Tensor:
        """V of the mentor; 1 in burn-in, when the student's own belief is not worth much.

        Of verified samples it is what is known.
        """
        if isinstance(self.mentor, DropIn):
            weights = self.mentor.weigh(losses, logits, batch)
        else:
            found = self.mentor.weights(losses, batch, learning_rate)
            assert found is not None
            weights = found
        if self.steps >= self.begins:
            return weights
        weights = torch.ones_like(weights)
        return weights if self.known is None else self.known.weigh(weights, batch.index)

    def learned(self) -> dict[str, LearnedMentor]:
        return dict(self.mentor.learned())

    def notes(self) -> list[str]:
        return self.mentor.notes()

    def figures(self) -> dict[str, Tensor | float]:
        return dict(self.mentor.figures())

    def state_dict(self) -> dict[str, Any]:
        return {
            "mentor": self.mentor.state_dict(),
            "memory": self.memory.average.clone(),
            "steps": self.steps,
            "mixed": 0 if self.mixer is None else self.mixer.step,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.mentor.load_state_dict(state["mentor"])
        self.memory.average = state["memory"].to(self.memory.average.device)
        self.steps = state["steps"]
        if self.mixer is not None:
            self.mixer.step = state["mixed"]


@dataclass(frozen=True)
class MentorBootstrap(MentorNetDD):
    """Every sample is learned, towards t = v y + (1 − v) q, with q its smoothed own prediction.

    v is that of MentorNet DD where samples were verified (or of `mentor`, transferred), as a
    probability, and else that of MentorNet auto. Until burn-in ends, t = y. Of verified samples y
    is the right label and v = 1, where that is known. Where the mentor is right this teaches the
    true label of a wrong sample, which plain weighting cannot use at all.

    Args:
        belief: of a sample's predictions, how much of the average stays at each look.
        mixup: α of Beta(α, α), by which pairs are blended; 0 for none. It costs a second look at
            each batch.
    """

    name: ClassVar[str] = "mentor-bootstrap"
    title: ClassVar[str] = "Mentor bootstrap"
    shares: ClassVar[bool] = False
    accumulates: ClassVar[bool] = False
    sharpness: float = 0.0
    decided_by: float = 1.0
    updates: tuple[float, ...] = tuple(percent / 100 for percent in range(12, 97, 7))
    belief: float = 0.7
    mixup: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative(mixup=self.mixup)
        if not 0 <= self.belief < 1:
            raise MentorNetError(f"belief must be in [0, 1), got {self.belief:g}")

    @property
    def needs_verified(self) -> bool:
        return False

    @property
    def uses_verified(self) -> bool:
        return not self.mentor

    def start(self, task: Task) -> Supervision:
        if self.mentor or task.verified is not None:
            mentor = super().start(task)
        else:
            mentor = DropIn(
                MentorLoss(
                    total_steps=task.total_steps, burn_in=self.burn_in,
                    seed=task.seed,
                ).to(task.device)
            )  # fmt: skip
        memory = PredictionMemory(task.count, task.classes, self.belief, task.device)
        mixer = Mixer(self.mixup, task.seed) if self.mixup else None
        return _Bootstrap(mentor, memory, mixer, self.burn_in * task.total_steps)
