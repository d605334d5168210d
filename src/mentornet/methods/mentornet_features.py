"""MentorNet features, our own method: labels are judged by classifiers that have not seen them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.supervision import Seen, Supervision, Taught
from mentornet.weighting import Evidence, judge_features

__all__ = ["MentorNetFeatures"]


class _Judged(Supervision):
    """Teaches −Σ_k r(k) log p(k), where r is known before the first step.

    Args:
        true: r, the probability of each true class, `(N, K)`.
        given_label: `(N,)`.
    """

    def __init__(self, true: Tensor, given_label: Tensor) -> None:
        self.true, self.given_label = true.float(), given_label

    @property
    def right(self) -> Tensor:
        """The probability that each given label is correct, `(N,)`."""
        return self.true.gather(1, self.given_label[:, None])[:, 0]

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        return self.right[evidence.index]

    def teach(self, seen: Seen) -> Taught:
        target = self.true[seen.batch.index]

        def of_logits(logits: Tensor) -> Tensor:
            return -(target * logits.log_softmax(1)).sum(1)

        return Taught(of_logits(seen.outputs.logits), of_logits=of_logits)

    def metrics(self) -> Mapping[str, Tensor | float]:
        return {"noise_rate": 1 - self.right.mean()}

    def state_dict(self) -> dict[str, Any]:
        return {"true": self.true.clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.true = state["true"].to(self.true.device)


@dataclass(frozen=True)
class MentorNetFeatures(Method):
    """v = P(the given label is correct | features), from out-of-fold predictions and Bayes' rule.

    It reads samples as vectors, best as the features of a frozen network; of small images, it can
    also read the pixels. Before the first step, `judge_features` finds r(k), the probability of
    each true class. The student then learns −Σ_k r(k) log p(k), so it learns from samples with
    wrong labels too. Verdicts teach it mistakes that rules make again and again.
    """

    name: ClassVar[str] = "mentornet-features"
    title: ClassVar[str] = "MentorNet features"
    summary: ClassVar[str] = "judges labels by features, with classifiers that have not seen them"
    judges: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        return Needs(verdicts="optional", features=True)

    def start(self, task: Task) -> Supervision:
        if task.features is None or task.given_label is None:
            raise MentorNetError(f"{self.name} needs the samples as vectors, in Task.features")
        known = None if task.verdicts is None else task.verdicts.said(task.given_label)
        found = judge_features(
            task.features, task.given_label, task.classes, known=known, seed=task.seed
        )
        return _Judged(found.true, task.given_label)
