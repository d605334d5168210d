"""MentorMix (Jiang et al. 2020): mixup whose partners and shares follow the mentor's weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mentornet.curricula import SelfPaced
from mentornet.errors import MentorNetError
from mentornet.methods.mentornet import make_engine
from mentornet.methods.method import Needs, Task
from mentornet.methods.mixing import Mixer, blend, blended_loss
from mentornet.methods.supervision import Seen, Supervision, Taught
from mentornet.methods.weighted import Weighted, WeightingMethod
from mentornet.weighting import Evidence, LossLevel, Weighting

__all__ = ["MentorMix", "leaning_share"]


def leaning_share(share: Tensor, weight: Tensor) -> Tensor:
    """Return v max(λ, 1 − λ) + (1 − v) min(λ, 1 − λ): a trusted sample is the larger part.

    >>> leaning_share(torch.tensor([0.3, 0.3]), torch.tensor([1.0, 0.0]))
    tensor([0.7000, 0.3000])
    """
    larger = torch.maximum(share, 1 - share)
    return weight * larger + (1 - weight) * (1 - larger)


class _MentorMix(Weighted):
    def __init__(
        self, engine: Weighting, task: Task, mixer: Mixer, temperature: float, *, reweigh: bool
    ) -> None:
        super().__init__(engine, task)
        self.mixer, self.temperature = mixer, temperature
        self.weighs = self.reweigh = reweigh  # weight decay follows the weights of the blends
        self.begun = torch.tensor(False)
        self.blends = LossLevel(engine.config.percentile, engine.config.decay).to(task.device)

    def weights(self, evidence: Evidence, learning_rate: float) -> Tensor | None:
        engine = self.engine
        self.begun = engine.step >= engine.config.burn_in * engine.total_steps
        return super().weights(evidence, learning_rate)

    def teach(self, seen: Seen) -> Taught:
        assert seen.weights is not None
        share, partner = self.mixer.draw((seen.weights / self.temperature).softmax(0))
        share = leaning_share(share, seen.weights)
        logits = seen.outputs.logits
        target = nn.functional.one_hot(seen.label, logits.shape[1]).to(logits.dtype)
        of_logits = partial(blended_loss, target=target, share=share, partner=partner)
        each = of_logits(seen.look(blend(seen.batch.inputs, share, partner)))
        if not self.reweigh:
            return Taught(each, torch.ones_like(seen.weights), of_logits=of_logits)
        level = self.blends.update(each.detach())
        left_out = self.begun & (each.detach() > level)
        return Taught(each, (~left_out).to(each.dtype), of_logits=of_logits)

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(), "mixer": self.mixer.step, "blends": self.blends.state_dict(),
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.mixer.step = state["mixer"]
        self.blends.load_state_dict(state["blends"])


@dataclass(frozen=True)
class MentorMix(WeightingMethod):
    """Blend each weighted sample with a partner that is drawn by weight, then weight the blends.

    v = 1(ℓ ≤ ℓ_pt); partners are drawn by softmax(v / T); in burn-in all weights are 1. Blends have
    a loss level of their own. If they are weighted, weight decay follows their weights. Each step
    takes two forward passes. On CIFAR-10 its authors' commands have `percentile=0.8 alpha=2
    reweigh=false` at a noise rate of 0.2, `0.6 8 false` at 0.4, and `0.2 4 true` at 0.8.

    Args:
        alpha: α > 0 of Beta(α, α); its paper tries 0.4 to 32.
        temperature: T > 0 of the draw of partners.
        reweigh: whether the blends are weighted too.
    """

    name: ClassVar[str] = "mentormix"
    title: ClassVar[str] = "MentorMix"
    summary: ClassVar[str] = "mixup that follows the mentor's weights (Jiang et al. 2020)"
    percentile: float = 0.7
    burn_in: float = 0.1
    burn_in_drop: float = 0.0
    alpha: float = 2.0
    temperature: float = 1.0
    reweigh: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "temperature"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise MentorNetError(f"{name} must be > 0, got {value:g}")

    @property
    def needs(self) -> Needs:
        return Needs(blends=True, one_process=True, whole_batch=True, looks_again=True)

    def start(self, task: Task) -> Supervision:
        engine, mixer = make_engine(self, SelfPaced(), task), Mixer(self.alpha, task.seed)
        return _MentorMix(engine, task, mixer, self.temperature, reweigh=self.reweigh)
