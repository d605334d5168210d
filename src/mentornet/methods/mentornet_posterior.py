"""MentorNet posterior, our own method: weights by Bayes' rule, and every image is learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import check_not_negative
from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods.memory import PredictionMemory
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Outputs, Seen, Supervision, Taught
from mentornet.verdicts import VerdictLookup
from mentornet.weighting import (
    Evidence,
    clipped,
    early_learning_term,
    label_posterior,
)

__all__ = ["MentorNetPosterior"]


class _Posterior(Supervision):
    """Teaches v ℓ + λ log(1 − ⟨p, t⟩), and computes v anew at the start of every epoch.

    Args:
        task: the task of the run.
        memory: t, the moving average of each sample's predictions.
        strength: λ.
        begins: the epochs that have ended before the first weights, as a share of training.
    """

    def __init__(
        self, task: Task, memory: PredictionMemory, strength: float, begins: float
    ) -> None:
        self.memory, self.strength = memory, strength
        self.begins = begins * task.total_steps
        self.steps = 0
        self.given = torch.full((task.count,), -1, dtype=torch.int32, device=task.device)
        self.trust = torch.ones(task.count, device=task.device)
        self.transition: Tensor | None = None
        self.verdicts = task.verdicts
        if task.verdicts is not None:
            self.known = VerdictLookup(task.verdicts)

    def begin_epoch(self, epoch: int) -> None:
        seen = self.given >= 0
        if self.steps < self.begins or not seen.all():
            return
        given = self.given.long()
        found = label_posterior(
            self.memory.shares(torch.arange(len(seen), device=seen.device)), given,
            transition=self.transition,
            known=None if self.verdicts is None else self.verdicts.said(given),
        )  # fmt: skip
        self.transition, self.trust = found.transition, found.right.to(self.trust)

    def observe(self, outputs: Outputs, batch: Batch) -> None:
        p = clipped(outputs.logits.detach().softmax(1))
        self.memory.add(batch.index, p / p.sum(1, keepdim=True))
        self.given[batch.index] = batch.given_label.int()

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        assert evidence.index is not None
        self.steps += 1
        weights = self.trust[evidence.index]
        return weights if self.known is None else self.known.weigh(weights, evidence.index)

    def teach(self, seen: Seen) -> Taught:
        assert seen.weights is not None
        target = self.memory.average[seen.batch.index]

        def of_logits(logits: Tensor) -> Tensor:
            losses = self.losses(Outputs(logits), seen.label, seen.batch)
            return self._taught(losses, logits, seen.weights, target)

        each = self._taught(seen.losses, seen.outputs.logits, seen.weights, target)
        return Taught(each, recorded=seen.weights, of_logits=of_logits)

    def _taught(
        self, losses: Tensor, logits: Tensor, weights: Tensor | None, target: Tensor
    ) -> Tensor:
        assert weights is not None
        term = early_learning_term(clipped(logits.softmax(1)), target)
        return weights.detach() * losses + self.strength * term

    def metrics(self) -> Mapping[str, Tensor | float]:
        return {"noise_rate": 1 - self.trust.mean()}

    def state_dict(self) -> dict[str, Any]:
        return {
            "memory": self.memory.average.clone(),
            "given": self.given.clone(),
            "trust": self.trust.clone(),
            "transition": torch.empty(0) if self.transition is None else self.transition.clone(),
            "steps": self.steps,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        device = self.given.device
        self.memory.average = state["memory"].to(device)
        self.given, self.trust = state["given"].to(device), state["trust"].to(device)
        self.transition = state["transition"].to(device) if len(state["transition"]) else None
        self.steps = state["steps"]


@dataclass(frozen=True)
class MentorNetPosterior(Method):
    """v = P(the given label is correct | predictions of the sample so far), by Bayes' rule.

    The noise matrix that Bayes' rule needs is estimated from the same predictions (see
    `label_posterior`), so nothing need be known of the labels. The student learns
    v ℓ + λ log(1 − ⟨p, t⟩), with t a moving average of a sample's predictions. The second term is
    that of ELR: it keeps the student from memorising wrong labels, and teaches it samples that have
    little weight.

    Args:
        strength: λ ≥ 0.
        belief: decay of the moving average t, in [0, 1).
        burn_in: share of training after which v is used; until then v = 1.
    """

    name: ClassVar[str] = "mentornet-posterior"
    title: ClassVar[str] = "MentorNet posterior"
    summary: ClassVar[str] = "weights by Bayes' rule with an estimated noise matrix (ours)"
    strength: float = 3.0
    belief: float = 0.7
    burn_in: float = 0.3

    def __post_init__(self) -> None:
        check_not_negative(strength=self.strength)
        if not 0 <= self.belief < 1:
            raise MentorNetError(f"belief must be in [0, 1), got {self.belief:g}")
        if not 0 <= self.burn_in <= 1:
            raise MentorNetError(f"burn_in must be in [0, 1], got {self.burn_in:g}")

    @property
    def needs(self) -> Needs:
        return Needs(verdicts="optional", one_process=True)

    def start(self, task: Task) -> Supervision:
        memory = PredictionMemory(task.count, task.classes, self.belief, task.device)
        return _Posterior(task, memory, self.strength, self.burn_in)
