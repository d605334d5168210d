"""What every mentor is: a small network from features to a weight in [0, 1]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors.sampling import sample_weights
from mentornet.randomness import seeded

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Mentor", "MentorConfig"]


@dataclass(frozen=True)
class MentorConfig:
    """What is common to all architectures; each adds its own sizes.

    Args:
        history: T, how many steps of loss it reads; 1 in the paper's CIFAR
            experiments, 10 in its App. D.
        num_classes: how many labels it can tell apart.
        use_label: whether it reads the label; if not, the label input is 0, as when
            the paper takes a mentor from CIFAR-10 to CIFAR-100.
    """

    history: int = 1
    num_classes: int = 10
    use_label: bool = True

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name == "use_label":
                if not isinstance(value, bool):
                    raise MentorNetError(f"use_label must be true or false, got {value!r}")
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise MentorNetError(f"{name} must be a whole number ≥ 1, got {value!r}")


class Mentor(nn.Module, ABC):
    """g_m(z; Θ): the weight of every sample from its features.

    Call it in inner loops: no value is looked at, no host waits, it compiles with
    `fullgraph=True`. `weigh` is the same behind a check of the values.

    Args:
        config: the sizes.
        seed: what its starting values are drawn from.
    """

    name: ClassVar[str]
    config_type: ClassVar[type[MentorConfig]]

    def __init__(self, config: MentorConfig | None = None, *, seed: int = 0) -> None:
        super().__init__()
        self.config = config if config is not None else self.config_type()
        if type(self.config) is not self.config_type:
            raise MentorNetError(
                f"{self.name} takes a {self.config_type.__name__}, got {type(config).__name__}"
            )
        with seeded(seed):
            self.build()

    @abstractmethod
    def build(self) -> None:
        """Make the layers, from `self.config`."""

    @abstractmethod
    def score(self, features: MentorFeatures) -> Tensor:
        """The logit of the weight, `(B,)`."""

    def logit(self, features: MentorFeatures) -> Tensor:
        """The logit of the weight, `(B,)`, in the mentor's own dtype."""
        if features.history != self.config.history:
            raise MentorNetError(
                f"this mentor reads {self.config.history} steps of history, got features with "
                f"T = {features.history}"
            )
        return self.score(self._seen(features))

    def forward(
        self,
        features: MentorFeatures,
        draws: Tensor | None = None,
        *,
        drop_rate: float | Tensor = 0.0,
        burn_in: bool | Tensor = False,
    ) -> Tensor:
        """The weights v `(B,)` in [0, 1], of the dtype of the loss.

        Args:
            features: z.
            draws: uniform numbers in [0, 1), `(B,)`, for the probabilistic sampling
                layer; without them it passes v on.
            drop_rate: see `sample_weights`.
            burn_in: see `sample_weights`.
        """
        weight = self.logit(features).sigmoid()
        if draws is None:
            if burn_in is not False or isinstance(drop_rate, Tensor) or drop_rate != 0.0:
                raise MentorNetError("burn_in and drop_rate need draws, uniform in [0, 1)")
        else:
            weight = sample_weights(weight, draws, drop_rate=drop_rate, burn_in=burn_in)
        return weight.to(features.loss.dtype)

    def weight(self, features: MentorFeatures) -> Tensor:
        """The weights v `(B,)`, from the newest losses that it reads, as `Curriculum.weight`."""
        weight: Tensor = self(features.newest(self.config.history))
        return weight

    @property
    def min_history(self) -> int:
        """T, how many steps of loss it reads."""
        return self.config.history

    @torch.no_grad()
    def weigh(self, features: MentorFeatures) -> Tensor:
        """The weights v `(B,)` without gradient, or an error that names what cannot be."""
        weight: Tensor = self(self.checked(features))
        return weight

    def checked(self, features: MentorFeatures) -> MentorFeatures:
        """These features, or an error that names what this mentor cannot read in them."""
        if not isinstance(features, MentorFeatures):
            raise MentorNetError(
                f"a mentor reads MentorFeatures, got {type(features).__name__}; "
                "make them with MentorFeatures.from_loss"
            )
        return features.validated(self.config.num_classes if self.config.use_label else None)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write `config.json` and `model.safetensors` into `folder`."""
        from mentornet.mentors.store import save_mentor  # the store knows all architectures

        save_mentor(self, Path(folder))

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path) -> Self:
        """The mentor of that shipped name (see `mentornet mentors`) or in that folder.

        >>> Mentor.from_pretrained("pd").name
        'bilstm'
        """
        from mentornet.mentors.store import load_mentor  # the store knows all architectures

        mentor = load_mentor(name_or_path)
        if not isinstance(mentor, cls):
            raise MentorNetError(
                f"{str(name_or_path)!r} is a {mentor.name!r} mentor, not a {cls.name!r}; "
                "Mentor.from_pretrained takes any"
            )
        return mentor

    @property
    def num_parameters(self) -> int:
        """How many numbers Θ holds."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _seen(self, features: MentorFeatures) -> MentorFeatures:
        dtype = next(self.parameters()).dtype
        ready = features.label.dtype == features.progress.dtype == torch.long
        if ready and self.config.use_label and features.loss.dtype == dtype:
            return features
        label = features.label if self.config.use_label else torch.zeros_like(features.label)
        return MentorFeatures(
            features.loss.to(dtype),
            features.difference.to(dtype),
            label.long(),
            features.progress.long(),
        )

    def _plain_inputs(self, features: MentorFeatures) -> Tensor:
        """All features as plain numbers, `(B, 2T + 2)`, label and epoch scaled to [0, 1)."""
        return torch.cat([features.loss, features.difference, self._scaled(features)], dim=1)

    def _scaled(self, features: MentorFeatures) -> Tensor:
        """Label and epoch as plain numbers in [0, 1), `(B, 2)`."""
        pair = torch.stack(
            [features.label / self.config.num_classes, features.progress / PERCENT], 1
        )
        return pair.to(features.loss.dtype)

    def extra_repr(self) -> str:
        return str(self.config)
