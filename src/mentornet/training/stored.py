"""What the files of a run must hold. They may have been edited, or come from anywhere.

Each file has a dataclass of its fields, which `mentornet.schema.typed` compares with the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import torch
from torch import Tensor, nn

from mentornet.data import Kind
from mentornet.errors import MentorNetError, short
from mentornet.schema import typed

__all__ = [
    "FORMAT", "DataFacts", "RunState", "Summary", "check_finite", "check_like",
    "check_rows", "load_optimiser",
]  # fmt: skip

FORMAT = 1
"""The version of checkpoints; it rises when older versions cannot read new ones."""

_SIDE, _CHANNELS, _VALUES, _CLASSES = (
    1 << 14,
    1 << 10,
    1 << 25,
    1 << 20,
)  # larger images and tables are refused


@dataclass(frozen=True)
class DataFacts:
    """The fields of `data.json`: what is known of the training samples, and how the run began."""

    classes: list[str]
    channels: int
    height: int
    width: int
    digest: str
    threads: int
    kind: str = "images"
    streamed: bool = False
    train_images: int | None = None
    best_chosen_on: int | None = None
    job: str | None = None
    code: str | None = None

    @classmethod
    def of(cls, content: Mapping[str, Any], where: str) -> DataFacts:
        """Return the fields of the file `where`, or raise if one cannot be."""
        facts = typed(cls, content, where)
        channels = _CHANNELS if facts.kind == "images" else _VALUES
        sizes = {
            "classes": (len(facts.classes), _CLASSES), "channels": (facts.channels, channels),
            "height": (facts.height, _SIDE), "width": (facts.width, _SIDE),
            "threads": (facts.threads, 1 << 20),
        }  # fmt: skip
        for name, (found, most) in sizes.items():
            if not 1 <= found <= most:
                raise MentorNetError(f"{where}: {name} must be in 1–{most}, got {short(found)}")
        if facts.kind not in get_args(Kind):
            raise MentorNetError(
                f"{where}: kind must be {', '.join(get_args(Kind))}, got {facts.kind!r:.60}"
            )
        return facts


@dataclass(frozen=True)
class Summary:
    """The fields of `summary.json` that other commands need."""

    method: str
    accuracy_last: float
    accuracy_best: float
    best_epoch: int
    seconds: float
    images_per_second: float
    parameters: int
    noise_rate_actual: float | None
    weight_auroc: float | None
    noise_rate_estimated: float | None = None


@dataclass(frozen=True)
class _Row:
    """The metrics that every epoch has."""

    epoch: int
    step: int
    learning_rate: float
    train_loss: float
    train_accuracy: float
    mean_weight: float
    data_used: float
    seconds: float
    images_per_second: float


def check_rows(rows: Iterable[Any], where: str) -> None:
    """Raise if these are not the metrics of the epochs 1, 2, …"""
    for number, row in enumerate(rows, 1):
        place = f"{where}, epoch {number}"
        if not isinstance(row, dict):
            raise MentorNetError(f"{place} must be an object of numbers")
        if typed(_Row, row, place).epoch != number:
            raise MentorNetError(f"{place}: epoch must be {number}, got {short(row['epoch'])}")
        for name, value in row.items():
            if type(value) not in (int, float):
                raise MentorNetError(f"{place}: {name!r:.60} must be a number")


@dataclass(frozen=True)
class _Best:
    chosen_by: float
    accuracy: float
    epoch: int


@dataclass(frozen=True)
class RunState:
    """The fields of a checkpoint."""

    digest: str
    student: dict[str, Any]
    optimiser: dict[str, Any]
    supervision: dict[str, Any]
    records: dict[str, Any]
    average: dict[str, Any]
    steps_done: int
    epochs_done: int
    seconds: float
    metrics: list[dict[str, Any]]
    best: dict[str, Any]
    notes: list[str]
    format: int = field(default=1)

    @classmethod
    def of(
        cls, content: Mapping[str, Any], fresh: Mapping[str, Any], *, epochs: int, steps: int,
        total: int,
    ) -> RunState:  # fmt: skip
        """Return the fields, or raise if they are not those of such a run.

        Args:
            content: what the checkpoint holds.
            fresh: the state of the run as it begins.
            epochs: the number of epochs of the run.
            steps: the number of steps of an epoch.
            total: the number of steps of the run.
        """
        where = "the checkpoint"
        if content.get("format", FORMAT) != FORMAT:
            raise MentorNetError(
                f"{where} has format {content['format']!r:.60}, this mentornet reads {FORMAT}"
            )
        state = typed(cls, content, where)
        if state.digest != fresh["digest"]:
            raise MentorNetError(f"{where} is of a run with another config or other data")
        for part in ("student", "supervision", "records", "average"):
            check_like(content[part], fresh[part], part)
        check_finite(state.student, "student")
        state.check_length(epochs, steps, total)
        return state

    def check_length(self, epochs: int, steps: int, total: int) -> None:
        """Raise if the counts and metrics are not those of a run of this length."""
        where, state = "the checkpoint", self
        if not 1 <= state.epochs_done <= epochs:
            raise MentorNetError(
                f"epochs_done must be in 1–{epochs}, got {short(state.epochs_done)}"
            )
        expected = min(state.epochs_done * steps, total)
        if state.steps_done != expected:
            raise MentorNetError(f"steps_done must be {expected}, got {short(state.steps_done)}")
        check_rows(state.metrics, f"{where}, metrics")
        if len(state.metrics) != state.epochs_done:
            raise MentorNetError(
                f"{where} must have the metrics of {state.epochs_done} epochs, got "
                f"{len(state.metrics)}"
            )
        typed(_Best, state.best, f"{where}, best")


def check_like(found: Any, expected: Any, name: str) -> None:
    """Raise if a stored state is not of the form of the state that a new run has.

    Tensors have the shape and dtype that they have in a new run. Dicts have all of its keys. What
    is None, or empty, in a new run may be anything.
    """
    if isinstance(expected, Tensor):
        if not isinstance(found, Tensor):
            raise MentorNetError(f"{name} must be a tensor, got {type(found).__name__}")
        form, wanted = (tuple(found.shape), found.dtype), (tuple(expected.shape), expected.dtype)
        if expected.numel() and form != wanted:
            raise MentorNetError(f"{name} must have shape and dtype {wanted}, got {form}")
    elif isinstance(expected, dict):
        if not isinstance(found, dict):
            raise MentorNetError(f"{name} must be a dict, got {type(found).__name__}")
        for key, value in expected.items():
            if key not in found:
                raise MentorNetError(f"{name} has no {key!r}")
            check_like(found[key], value, f"{name}.{key}")
    elif type(expected) in (int, float, bool, str) and type(found) is not type(expected):
        wanted_type = type(expected).__name__
        raise MentorNetError(f"{name} must be {wanted_type}, got {type(found).__name__}")


def check_finite(state: Mapping[str, Any], name: str) -> None:
    """Raise if a tensor of a student holds NaN or an infinite number."""
    for key, part in state.items():
        if isinstance(part, Tensor) and part.is_floating_point() and not part.isfinite().all():
            raise MentorNetError(f"{name}: {key:.80} must hold finite numbers, got NaN or infinity")


def load_optimiser(optimiser: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Restore what an optimiser remembers; its settings stay those of the config."""
    check_like(state, {"state": {}, "param_groups": None}, "optimiser")
    settings = [
        {key: value for key, value in group.items() if key != "params"}
        for group in optimiser.param_groups
    ]
    optimiser.load_state_dict(state)
    for group, own in zip(optimiser.param_groups, settings, strict=True):
        weights: list[nn.Parameter] = group["params"]
        group.clear()
        group.update(own, params=weights)
        for weight in weights:
            for key, kept in optimiser.state.get(weight, {}).items():
                if kept is not None:
                    like = torch.zeros(()) if key == "step" else weight.detach()  # AdamW counts
                    check_like(kept, like, f"optimiser.{key!r:.60}")
