"""What the files of an experiment must hold; see `mentornet.schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError, short
from mentornet.files import read_json
from mentornet.schema import typed

__all__ = ["check_result", "read_tried", "read_under"]

_SEEDS = 10_000  # seeds of experiments are counted from 0


@dataclass(frozen=True)
class _Config:
    machine: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Result:
    digest: str
    kind: str
    run: dict[str, Any]
    config: dict[str, Any]
    curve: dict[str, list[float | None]]
    tried: list[dict[str, Any]] | None
    conditions: dict[str, Any]
    train_accuracy: float | None = None


@dataclass(frozen=True)
class _Made:
    seed: int
    seconds: float
    accuracy_last: float | None = None
    accuracy_best: float | None = None
    noise_rate_actual: float | None = None
    mse: float | None = None


@dataclass(frozen=True)
class _Trial:
    set: list[str]
    validation_accuracy: float | None = None
    mse: float | None = None


@dataclass(frozen=True)
class _Tried:
    tried: list[dict[str, Any]]


@dataclass(frozen=True)
class _Under:
    under: list[dict[str, Any]]


def check_result(found: Mapping[str, Any], where: str) -> None:
    """Raise if a field of a stored result is not of its type."""
    result = typed(_Result, found, where)
    typed(_Config, result.config, f"{where}, config")
    made = typed(_Made, result.run, f"{where}, run")
    if not 0 <= made.seed < _SEEDS:
        raise MentorNetError(f"{where}: seed must be in 0–{_SEEDS - 1}, got {short(made.seed)}")
    scores = {"training": ("accuracy_last", "accuracy_best"), "fit": ("mse",)}
    for name in scores.get(result.kind, ()):
        if getattr(made, name) is None:
            raise MentorNetError(f"{where}: {name} must be a number, got null")
    _check_trials(result.tried or [], where)


def read_tried(path: Path) -> list[dict[str, Any]]:
    """Read the candidates that were tried, and what each has reached."""
    tried = typed(_Tried, read_json(path), f"{path}").tried
    _check_trials(tried, f"{path}")
    if not tried:
        raise MentorNetError(f"{path} has no candidates; delete it, and they are tried again")
    return tried


def read_under(path: Path) -> list[dict[str, str | int]]:
    """Read the conditions under which a job was made so far; none if there is no file."""
    return typed(_Under, read_json(path), f"{path}").under if path.exists() else []


def _check_trials(tried: list[dict[str, Any]], where: str) -> None:
    for trial in tried:
        found = typed(_Trial, trial, f"{where}, tried")
        if found.validation_accuracy is None and found.mse is None:
            raise MentorNetError(f"{where}: tried must have validation_accuracy or mse")
