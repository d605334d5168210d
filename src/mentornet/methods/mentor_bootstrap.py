"""Our own: the student relabels the samples that the mentor does not trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mentornet.curricula import MentorNetPD
from mentornet.curricula.curriculum import check_not_negative
from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.memory import PredictionMemory
from mentornet.methods.mentornet_dd import MentorNetDD
from mentornet.methods.method import Needs, Task
from mentornet.methods.mixing import Mixer, blend, blended_loss
from mentornet.methods.supervision import Outputs, Seen, Supervision, Taught
from mentornet.methods.weighted import Weighted
from mentornet.weighting import Evidence, Weighting, WeightingConfig

__all__ = ["MentorBootstrap", "trusted_target"]


def trusted_target(label: Tensor, weight: Tensor, belief: Tensor) -> Tensor:
    """T = v y + (1 − v) q: the label as far as the mentor trusts it, else what is believed.

    Args:
        label: y, `(B,)`.
        weight: v, `(B,)`.
        belief: q, shares of the classes, `(B, K)`.

    >>> trusted_target(torch.tensor([0]), torch.tensor([0.25]), torch.tensor([[0.0, 1.0]]))
    tensor([[0.2500, 0.7500]])
    """
    given = nn.functional.one_hot(label, belief.shape[1]).to(belief.dtype)
    weight = weight[:, None].to(belief.dtype)
    return weight * given + (1 - weight) * belief


class _Bootstrap(Weighted):
    """Weighted, with targets in place of weights.

    Args:
        engine: that gives v.
        task: of the run.
        memory: of a sample's predictions.
        mixer: of pairs, or None.
        begins: the step from which on the student's belief counts.
    """

    weighs = False

    def __init__(
        self,
        engine: Weighting,
        task: Task,
        memory: PredictionMemory,
        mixer: Mixer | None,
        begins: float,
    ) -> None:
        super().__init__(engine, task)
        self.memory, self.mixer, self.begins, self.steps = memory, mixer, begins, 0

    def observe(self, said: Outputs, batch: Batch) -> None:
        self.memory.add(batch.index, said.logits.detach().softmax(1))

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        """V of the mentor; 1 in burn-in, or what a verdict says."""
        weights = super().weights(evidence, learning_rate)
        self.steps += 1
        if self.steps > self.begins or weights is None:
            return weights
        weights = torch.ones_like(weights)
        if self.known is not None and evidence.index is not None:
            return self.known.weigh(weights, evidence.index)
        return weights

    def teach(self, seen: Seen) -> Taught:
        assert seen.weights is not None
        target = trusted_target(seen.label, seen.weights, self.memory.shares(seen.batch.index))
        if self.mixer is None:
            return Taught(-(target * seen.said.log_p).sum(1))
        share, partner = self.mixer.draw(torch.ones_like(seen.weights))
        mixed = seen.look(blend(seen.batch.inputs, share, partner))
        return Taught(blended_loss(mixed, target, share, partner))

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "memory": self.memory.average.clone(),
            "steps": self.steps,
            "mixed": 0 if self.mixer is None else self.mixer.step,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.memory.average = state["memory"].to(self.memory.average.device)
        self.steps = state["steps"]
        if self.mixer is not None:
            self.mixer.step = state["mixed"]


@dataclass(frozen=True)
class MentorBootstrap(MentorNetDD):
    """Every sample is learned, towards t = v y + (1 − v) q, with q its smoothed own prediction.

    v is that of MentorNet DD where samples were verified (or of `mentor`, transferred), as a
    probability, and otherwise that of MentorNet auto. Until burn-in ends, t = y. For verified
    samples y is the true label and v = 1, where that is known. Where the mentor is right, this
    teaches the true label of a wrong sample, which plain weighting cannot use at all.

    Args:
        belief: share of the average of a sample's predictions that is kept at each look.
        mixup: α of Beta(α, α), by which pairs are blended; 0 for none. It costs a second look at
            each batch.
    """

    name: ClassVar[str] = "mentor-bootstrap"
    title: ClassVar[str] = "Mentor bootstrap"
    summary: ClassVar[str] = "teaches distrusted samples what the student itself believes (ours)"
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
    def needs(self) -> Needs:
        return Needs(
            verdicts="no" if self.mentor else "optional", one_process=True, whole_batch=True,
            looks_again=self.mixup > 0,
        )  # fmt: skip

    def start(self, task: Task) -> Supervision:
        if self.mentor or task.verdicts is not None:
            engine = self.engine(task)
        else:
            engine = Weighting(
                MentorNetPD(), total_steps=task.total_steps, auto=True, count=task.count,
                config=WeightingConfig(burn_in=self.burn_in), seed=task.seed,
            )  # fmt: skip
        memory = PredictionMemory(task.count, task.classes, self.belief, task.device)
        mixer = Mixer(self.mixup, task.seed) if self.mixup else None
        return _Bootstrap(engine, task, memory, mixer, self.burn_in * task.total_steps)
