"""The base class of all curricula: a rule v* for the weight of a sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

import torch
from torch import Tensor

from mentornet.curricula.implied_loss import implied_loss
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures

__all__ = ["Curriculum", "Direction", "check_not_negative", "check_positive"]

Direction = Literal["decreasing", "increasing"]


@dataclass(frozen=True)
class Curriculum(ABC):
    """A predefined curriculum: its settings are fields, and its formulas are pure methods.

    A subclass implements v* in `weight`, G in `penalty` if the paper gives one, and ρ in
    `_implied_loss` if there is a closed form.

    Attributes:
        name: its name on the command line and in tables.
        direction: whether v* decreases or increases with the loss, all else fixed; None if it
            does neither. Prop. 1 needs a decreasing v*.
        min_history: the smallest history T that it can be computed from.
    """

    name: ClassVar[str]
    direction: ClassVar[Direction | None] = None
    min_history: ClassVar[int] = 1

    @torch.no_grad()
    def __call__(self, features: MentorFeatures) -> Tensor:
        """Check the features, and return the weights v*, `(B,)`, in [0, 1], without gradient."""
        return self.weight(self._checked(features))

    @abstractmethod
    def weight(self, features: MentorFeatures) -> Tensor:
        """Return v*(z), `(B,)`, in the dtype of the loss: 1 learns a sample, 0 leaves it out."""

    def penalty(self, weight: Tensor, features: MentorFeatures) -> Tensor:  # noqa: ARG002
        """Return each sample's term of G(v; λ), `(B,)`; v* minimises v·ℓ + G(v; λ)."""
        raise MentorNetError(
            f"{self.name} has no known G; fit it to its weights instead (implicit)"
        )

    def implied_loss(self, features: MentorFeatures) -> Tensor:
        """Return ρ(ℓ) = ∫₀^ℓ v*(x) dx, `(B,)`, all but the current loss fixed (Eq. 10, Prop. 1)."""
        return self._implied_loss(self._checked(features))

    def _implied_loss(self, features: MentorFeatures) -> Tensor:
        """Return ρ by numerical integration; a subclass replaces it by a closed form."""
        return implied_loss(self.weight, features)

    def _checked(self, features: MentorFeatures) -> MentorFeatures:
        if features.history < self.min_history:
            raise MentorNetError(
                f"{self.name} needs a history of at least {self.min_history} steps, "
                f"got T = {features.history}"
            )
        return features.validated()

    @property
    def has_penalty(self) -> bool:
        """Whether the paper gives this curriculum's G."""
        return type(self).penalty is not Curriculum.penalty

    @property
    def settings(self) -> dict[str, float | bool]:
        """The hyper-parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def check_not_negative(**settings: float) -> None:
    """Raise if one of the settings is below 0 or not finite."""
    for name, value in settings.items():
        if not 0 <= value < float("inf"):
            raise MentorNetError(f"{name} must be ≥ 0 and finite, got {value:g}")


def check_positive(**settings: float) -> None:
    """Raise if one of the settings is not above 0 and finite."""
    check_not_negative(**settings)
    for name, value in settings.items():
        if value == 0:
            raise MentorNetError(f"{name} must be > 0, got 0")
