"""MentorNet early, our own method: it judges labels before a student can have memorised them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from mentornet.errors import MentorNetError, cut
from mentornet.methods.method import Method, Needs, Task
from mentornet.methods.second_look import SecondLook, rows_share
from mentornet.methods.supervision import Seen, Supervision, Taught
from mentornet.weighting import EarlyConfig, EarlyJudge, Evidence

__all__ = ["MentorNetEarly"]

_FEW = 0.01  # rejected samples that can be learned: if fewer, a second look is not worth its time


class _Early(Supervision):
    """Weights the losses of the judge, who judges at the start of every epoch.

    Args:
        judge: finds the weights.
        total_steps: the number of steps of the whole training.
        look: teaches samples whose label is rejected, or None.
    """

    reads_predictions = True

    def __init__(self, judge: EarlyJudge, total_steps: int, look: SecondLook | None) -> None:
        self.judge, self.total_steps, self.look = judge, total_steps, look
        self.steps, self.rejected = 0, 0.0
        self.compared = self.looked = False  # whether the user was told of it
        self.news: list[str] = []

    def begin_epoch(self, epoch: int) -> None:
        self.judge.judge(self.steps / self.total_steps)
        self._judged()
        if self.known is not None and not self.compared:
            self.compared = True
            share, variance = self.judge.checked.tolist()
            found = f"{share:.0%} ± {variance**0.5:.0%} of the labels are wrong"
            self.news.append(
                f"by {len(self.judge.verdicts or ())} verified samples, {found}; from here on the "
                "student is taught what is known of them"
            )

    def _judged(self) -> None:
        """Follow what the judge knows now."""
        self.known = self.judge.known
        self.rejected = (self.judge.belief > 0).float().mean().item()

    def notes(self) -> list[str]:
        news, self.news = self.news, []
        return news

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor:
        self.steps += 1
        weights = self.judge.see(evidence)
        if self.known is None:
            return weights
        assert evidence.index is not None
        return self.known.weigh(weights, evidence.index)

    def teach(self, seen: Seen) -> Taught:
        def of_logits(logits: Tensor) -> Tensor:
            return self.judge.losses(logits.log_softmax(1), seen.label, seen.batch.index)

        each = self.judge.losses(seen.outputs.log_p, seen.label, seen.batch.index)
        if self.look is None or self.rejected < _FEW or not _can_be_covered(seen):
            return Taught(each, seen.weights, of_logits=of_logits)
        if not self.looked:
            self.looked = True
            self.news.append(
                f"{self.rejected:.0%} of the images have a label that is not trusted, and a class "
                "that the student is sure of: they teach that class, on covered views, and a step "
                f"now takes about {rows_share(self.rejected):.0%} longer (rejected=drop does "
                "without)"
            )
        assert seen.weights is not None
        more = self.look.losses(
            seen, self.judge.believed, self.judge.belief, share=self.rejected, step=self.steps
        )
        return Taught(seen.weights * each + more)

    def metrics(self) -> Mapping[str, Tensor | float]:
        return {} if self.judge.rate.isnan() else {"noise_rate": self.judge.rate}

    def state_dict(self) -> dict[str, Any]:
        judge = {name: value.clone() for name, value in self.judge.state_dict().items()}
        return {
            "judge": judge, "steps": self.steps, "compared": self.compared, "looked": self.looked,
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.judge.load_state_dict(state["judge"])
        self.steps = state["steps"]
        self.compared, self.looked = state["compared"], state["looked"]
        self._judged()


def _can_be_covered(seen: Seen) -> bool:
    """Return whether the samples are images, and no auxiliary head reads the last pass."""
    inputs = seen.batch.inputs
    return inputs.ndim == 4 and inputs.is_floating_point() and seen.outputs.auxiliary is None


@dataclass(frozen=True)
class MentorNetEarly(EarlyConfig, Method):
    """v = P(the given label is correct | averaged predictions), after a tenth of training.

    See `weighting.early` for the formulas; `EarlyLoss` is the same in a training loop of one's own.
    Nothing need be known of the labels. The method remembers 2 N K numbers. Its settings are those
    of `EarlyConfig`, and one more.

    Args:
        rejected: what is done with an image whose label is not trusted: "learn" teaches the class
            that the student is sure of instead, on a view in which a part is covered, and takes
            longer by a little more than the share of such images; "drop" teaches nothing.
    """

    name: ClassVar[str] = "mentornet-early"
    title: ClassVar[str] = "MentorNet early"
    summary: ClassVar[str] = "judges labels before wrong ones can be memorised (ours)"
    rejected: str = "learn"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rejected not in ("learn", "drop"):
            raise MentorNetError(f"rejected must be learn or drop, got {cut(self.rejected)!r}")

    @property
    def needs(self) -> Needs:
        return Needs(verdicts="optional")

    def start(self, task: Task) -> Supervision:
        judge = EarlyJudge(task.count, task.classes, self, task.verdicts)
        look = SecondLook(task.seed) if self.rejected == "learn" else None
        return _Early(judge.to(task.device), task.total_steps, look)
