"""What an experiment is made of: a job gives one result, once its settings are tuned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from mentornet.config import Precision
from mentornet.training.observer import Observer

__all__ = ["Job", "Kind", "Tuning"]

Kind = Literal["training", "fit"]


@dataclass(frozen=True)
class Tuning:
    """The settings that are tried before a job, and for how long.

    The choice that is made for the first seed serves all seeds.

    Args:
        candidates: the settings to try. Each candidate is a tuple of words such as `beta=0.9`.
        epochs: the length of each trial; None for the length of the job itself.
    """

    candidates: tuple[tuple[str, ...], ...]
    epochs: int | None = None


class Job(ABC):
    """One piece of work with one result: a training run, or the fit of a mentor.

    Attributes:
        kind: which of the two it is. Results of a kind hold the same numbers.
        config: all settings, a frozen dataclass with a `seed`.
        tuning: what is tried before the job; None if nothing is.
    """

    kind: ClassVar[Kind]
    config: Any
    tuning: Tuning | None

    @property
    def seed(self) -> int:
        """The seed of this job."""
        return int(self.config.seed)

    @abstractmethod
    def with_seed(self, seed: int) -> Job:
        """The same job with another seed."""

    @abstractmethod
    def untuned(self) -> Job:
        """The same job without its tuning."""

    @property
    def precision(self) -> Precision:
        """The number format that is asked for; it is part of the key, unless it is auto."""
        return "auto"

    def with_precision(self, precision: Precision) -> Job:  # noqa: ARG002  some have only one
        """The same job in that number format."""
        return self

    @property
    def needs(self) -> tuple[Job, ...]:
        """The jobs that must be made before this one."""
        return ()

    def taken(self, working: Callable[[Job], Path]) -> tuple[str, ...]:  # noqa: ARG002  mostly none
        """The settings that this job has from those that it needs.

        Args:
            working: returns the folder in which a job was made.
        """
        return ()

    @property
    @abstractmethod
    def digest(self) -> str:
        """Ten characters that change with everything that the result depends on."""

    @property
    @abstractmethod
    def key(self) -> str:
        """The name of the job's files; it ends with the digest."""

    @abstractmethod
    def attempt(
        self, settings: Sequence[str], folder: Path, observer: Observer
    ) -> Mapping[str, Any]:
        """Try one candidate in `folder`, and return what `score` compares, and `seconds`."""

    @abstractmethod
    def score(self, trial: Mapping[str, Any]) -> float:
        """How good a trial was; the highest score is chosen."""

    @abstractmethod
    def make(self, settings: Sequence[str], folder: Path, observer: Observer) -> dict[str, Any]:
        """Do the job with the chosen settings in `folder`, and return its result.

        A job that was interrupted continues from what `folder` holds.
        """
