"""MentorNet early, our own method: it judges labels before a student can have memorised them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from mentornet.curricula.curriculum import check_not_negative
from mentornet.errors import MentorNetError
from mentornet.methods.early_learning import clipped, early_learning_term
from mentornet.methods.memory import PredictionMemory
from mentornet.methods.method import Method, Task
from mentornet.methods.supervision import Outputs, Seen, Supervision, Taught
from mentornet.weighting import Evidence, anchored_posterior

__all__ = ["MentorNetEarly"]

_CLEAN = 0.06  # if fewer labels than this share look wrong, most of them are only hard
_HELPS, _HARMS = 0.45, 0.65  # up to and from these shares of wrong labels, the term of ELR does so


class _Early(Supervision):
    """Teaches v ℓ + λ' log(1 − ⟨p, t⟩), and computes v anew at the start of every epoch.

    Args:
        task: the task of the run.
        method: the settings.
    """

    reads_predictions = True

    def __init__(self, task: Task, method: MentorNetEarly) -> None:
        self.strength, self.rises = method.strength, method.rise * task.total_steps
        self.memory = PredictionMemory(task.count, task.classes, method.belief, task.device)
        self.seen = PredictionMemory(task.count, task.classes, method.forget, task.device)
        self.given = torch.full((task.count,), -1, dtype=torch.int32, device=task.device)
        self.trust = torch.ones(task.count, device=task.device)
        self.rate = torch.full((), torch.nan, device=task.device)
        self.steps = 0

    def begin_epoch(self, epoch: int) -> None:
        known = (self.given >= 0).nonzero()[:, 0]
        if not len(known):
            return
        found = anchored_posterior(self.seen.shares(known), self.given[known].long())
        self.rate = found.noise_rate.to(self.trust)
        risen = min(1.0, self.steps / self.rises) if self.rises else 1.0
        share = risen * (found.noise_rate / _CLEAN).clamp(max=1).square()
        self.trust[known] = (1 - share * (1 - found.right)).to(self.trust)

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor:
        assert evidence.index is not None
        assert evidence.probabilities is not None
        self.steps += 1
        p = clipped(evidence.probabilities)
        p = p / p.sum(1, keepdim=True)
        self.memory.add(evidence.index, p)
        self.seen.add(evidence.index, p)
        self.given[evidence.index] = evidence.labels.int()
        return self.trust[evidence.index]

    def teach(self, seen: Seen) -> Taught:
        target = self.memory.average[seen.batch.index]

        def of_logits(logits: Tensor) -> Tensor:
            losses = self.losses(Outputs(logits), seen.label, seen.batch)
            return self._taught(losses, logits, seen.weights, target)

        each = self._taught(seen.losses, seen.outputs.logits, seen.weights, target)
        return Taught(each, of_logits=of_logits)

    def _taught(
        self, losses: Tensor, logits: Tensor, weights: Tensor | None, target: Tensor
    ) -> Tensor:
        assert weights is not None
        harm = ((self.rate.nan_to_num(0.0) - _HELPS) / (_HARMS - _HELPS)).clamp(0, 1)
        term = early_learning_term(clipped(logits.softmax(1)), target)
        return weights.detach() * losses + self.strength * (1 - harm) * term

    def metrics(self) -> Mapping[str, Tensor | float]:
        return {} if self.rate.isnan() else {"noise_rate": self.rate}

    def state_dict(self) -> dict[str, Any]:
        return {
            "memory": self.memory.average.clone(), "seen": self.seen.average.clone(),
            "given": self.given.clone(), "trust": self.trust.clone(),
            "rate": self.rate.clone(), "steps": self.steps,
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        device = self.given.device
        self.memory.average = state["memory"].to(device)
        self.seen.average = state["seen"].to(device)
        self.given, self.trust = state["given"].to(device), state["trust"].to(device)
        self.rate, self.steps = state["rate"].to(device), state["steps"]


@dataclass(frozen=True)
class MentorNetEarly(Method):
    """v = P(the given label is correct | averaged predictions), from the second epoch on.

    A student learns correct labels before it memorises wrong ones. So its predictions are averaged
    from the first epoch on, and v follows from them at the start of every epoch, by the share of
    wrong labels among the predictions that it is surest of (see `anchored_posterior`). While it
    knows little, v counts in part: as 1 − a (1 − v), with a rising from 0 to 1. If hardly any label
    looks wrong, most that do are only hard to learn. So a is also multiplied by
    min(1, ε̂/0.06)², with ε̂ = 1 − mean(v).

    The student learns v ℓ + λ' log(1 − ⟨p, t⟩), with t a faster moving average of a sample's
    predictions. The second term is that of ELR. It teaches samples that have little weight, but
    where most labels are wrong it only confirms mistakes of the student. So λ' = λ while the
    estimated share of wrong labels is at most 0.45; it falls linearly, and is 0 from 0.65 on.

    Nothing need be known of the labels. The method remembers 2 N K numbers.

    Args:
        strength: λ ≥ 0.
        belief: decay of the moving average t, in [0, 1).
        forget: decay of the moving average that v is computed from, in [0, 1).
        rise: share of training in which a rises to 1, in [0, 1].
    """

    name: ClassVar[str] = "mentornet-early"
    title: ClassVar[str] = "MentorNet early"
    summary: ClassVar[str] = "weights by averaged predictions, before labels are memorised (ours)"
    strength: float = 3.0
    belief: float = 0.7
    forget: float = 0.9
    rise: float = 0.1

    def __post_init__(self) -> None:
        check_not_negative(strength=self.strength)
        for name, decay in (("belief", self.belief), ("forget", self.forget)):
            if not 0 <= decay < 1:
                raise MentorNetError(f"{name} must be in [0, 1), got {decay:g}")
        if not 0 <= self.rise <= 1:
            raise MentorNetError(f"rise must be in [0, 1], got {self.rise:g}")

    def start(self, task: Task) -> Supervision:
        return _Early(task, self)
