"""Mentor bootstrap, our own method: the student relabels samples that the mentor distrusts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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
    """Return the target t = v y + (1 − v) q, `(B, K)`: a mean of label and prediction.

    Args:
        label: y, `(B,)`.
        weight: v, `(B,)`, how far the mentor trusts the label.
        belief: q, predicted probabilities, `(B, K)`.

    >>> trusted_target(torch.tensor([0]), torch.tensor([0.25]), torch.tensor([[0.0, 1.0]]))
    tensor([[0.2500, 0.7500]])
    """
    given = nn.functional.one_hot(label, belief.shape[1]).to(belief.dtype)
    weight = weight[:, None].to(belief.dtype)
    return weight * given + (1 - weight) * belief


class _Bootstrap(Weighted):
    """Uses the weights of the engine to make targets.

    Args:
        engine: the engine that gives v.
        task: the task of the run.
        memory: the moving average of predictions.
        mixer: draws pairs for mixup, or None for no mixup.
        begins: the step after which predictions are part of the target.
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

    def observe(self, outputs: Outputs, batch: Batch) -> None:
        self.memory.add(batch.index, outputs.logits.detach().softmax(1))

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        """Return v of the mentor; in burn-in it is 1, or v* where there is a verdict."""
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
            return Taught(
                -(target * seen.outputs.log_p).sum(1),
                of_logits=lambda logits: -(target * logits.log_softmax(1)).sum(1),
            )
        share, partner = self.mixer.draw(torch.ones_like(seen.weights))
        of_logits = partial(blended_loss, target=target, share=share, partner=partner)
        mixed = seen.look(blend(seen.batch.inputs, share, partner))
        return Taught(of_logits(mixed), of_logits=of_logits)

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
    """Every sample is learned with the target t = v y + (1 − v) q, q its averaged prediction.

    With verdicts, v is the probability that MentorNet DD gives; with `mentor`, that of the
    transferred mentor; else it is the weight of MentorNet auto. Until burn-in ends, t = y. For
    verified samples whose true label is known, y is the true label and v = 1. The student thus also
    learns from samples with wrong labels, which weights can only leave out.

    Args:
        belief: decay of the moving average q of a sample's predictions, in [0, 1).
        mixup: α ≥ 0 of Beta(α, α), which pairs are blended by; 0 for no mixup. Mixup takes a second
            forward pass per batch.
    """

    name: ClassVar[str] = "mentor-bootstrap"
    title: ClassVar[str] = "Mentor bootstrap"
    summary: ClassVar[str] = "teaches distrusted samples what the student itself believes (ours)"
    sharpness: float = 0.0
    decided_by: float = 1.0
    own_updates: ClassVar[tuple[float, ...]] = tuple(percent / 100 for percent in range(12, 97, 7))
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
            blends=self.mixup > 0,
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
