"""The base class of all mentors: a small network that maps features to weights in [0, 1]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError, cut, short
from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors.sampling import sample_weights
from mentornet.randomness import seeded

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Mentor", "MentorConfig"]

_LARGEST = 10_000
_MOST = {"num_classes": 1 << 20}  # of each size, if it may be larger than that


@dataclass(frozen=True)
class MentorConfig:
    """The settings of all architectures; each architecture adds its own sizes.

    Args:
        history: T ≥ 1, how many losses of a sample the mentor reads; 1 in the paper's CIFAR
            experiments, 10 in its App. D.
        num_classes: number of different labels that the mentor can read, ≥ 1.
        use_label: whether the mentor reads the given label. If not, its label input is 0, as in
            the paper's transfer from CIFAR-10 to CIFAR-100.
    """

    history: int = 1
    num_classes: int = 10
    use_label: bool = True

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name == "use_label":
                if not isinstance(value, bool):
                    raise MentorNetError(f"use_label must be true or false, got {cut(repr(value))}")
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise MentorNetError(f"{name} must be a whole number ≥ 1, got {cut(repr(value))}")
            elif value > _MOST.get(name, _LARGEST):
                most = _MOST.get(name, _LARGEST)
                raise MentorNetError(f"{name} must be at most {most}, got {short(value)}")


class Mentor(nn.Module, ABC):
    """g_m(z; Θ): the weight of every sample from its features.

    Call the mentor itself in inner loops: it checks no values, never synchronises with the device,
    and compiles with `fullgraph=True`. `weigh` checks the values first.

    Args:
        config: the sizes; None for the defaults of the architecture.
        seed: seed of the initial parameters.
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
        """Create the layers from `self.config`."""

    @abstractmethod
    def score(self, features: MentorFeatures) -> Tensor:
        """Return the logit of each weight, `(B,)`, from features in the mentor's dtype."""

    def logit(self, features: MentorFeatures) -> Tensor:
        """Return the logit of each weight, `(B,)`, in the mentor's dtype."""
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
        """Return the weights v, `(B,)`, in [0, 1], in the dtype of the loss.

        Args:
            features: z.
            draws: uniform numbers in [0, 1), `(B,)`, for the probabilistic sampling layer; None
                leaves that layer out.
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
        """Return the weights v, `(B,)`, from as many of the newest losses as the mentor reads."""
        weight: Tensor = self(features.newest(self.config.history))
        return weight

    @property
    def min_history(self) -> int:
        """T, how many losses of a sample the mentor reads."""
        return self.config.history

    @torch.no_grad()
    def weigh(self, features: MentorFeatures) -> Tensor:
        """Check the features, and return the weights v, `(B,)`, without gradient."""
        weight: Tensor = self(self.checked(features))
        return weight

    def checked(self, features: MentorFeatures) -> MentorFeatures:
        """Return these features, or raise an error if the mentor cannot read them."""
        if not isinstance(features, MentorFeatures):
            raise MentorNetError(
                f"a mentor reads MentorFeatures, got {type(features).__name__}; "
                "make them with MentorFeatures.from_loss"
            )
        return features.validated(self.config.num_classes if self.config.use_label else None)

    def share_label(self, classes: Tensor, source: int) -> None:
        """Read the labels of these classes as `source` from now on.

        Args:
            classes: the classes, which the mentor has learned nothing of.
            source: a class whose label the mentor was shown in their place.

        An architecture that reads labels as numbers, without a table, stays as it is.
        """

    def save_pretrained(self, folder: str | Path) -> None:
        """Write `config.json` and `model.safetensors` into `folder`."""
        from mentornet.mentors.store import save_mentor  # the store knows all architectures

        save_mentor(self, Path(folder))

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path) -> Self:
        """Load the shipped mentor of that name (see `mentornet mentors`) or the one in that folder.

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
        """The number of parameters in Θ."""
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
        """Return all features as numbers, `(B, 2T + 2)`, label and progress scaled to [0, 1)."""
        return torch.cat([features.loss, features.difference, self._scaled(features)], dim=1)

    def _scaled(self, features: MentorFeatures) -> Tensor:
        """Return label and progress as numbers in [0, 1), `(B, 2)`."""
        pair = torch.stack(
            [features.label / self.config.num_classes, features.progress / PERCENT], 1
        )
        return pair.to(features.loss.dtype)

    def extra_repr(self) -> str:
        return str(self.config)
