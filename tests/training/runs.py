"""Small runs for the tests: a few seconds at most, on real digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.methods import METHODS, make_method
from mentornet.records import read_records
from mentornet.training import Prepared, RunFolder, prepare
from tests.data.layouts import jpeg, put

SPECIAL_SETTINGS: dict[str, tuple[str, ...]] = {
    "forgetting": ("dropout=0.3",),
    "mentornet": ("mentor=prediction-variance",),
    "mentornet-dd": ("updates=0.3,0.7", "history=2", "steps=20"),
    "mentor-bootstrap": ("updates=0.3,0.7", "steps=20", "mixup=0.5"),
    "verified": ("others=0.5",),
}
"""Only methods whose defaults would take long, or would leave out much of them."""

METHOD_SETTINGS = {name: SPECIAL_SETTINGS.get(name, ()) for name in METHODS}
"""Every method, with what exercises most of it."""


def streamed(
    photos: Path, *, classes: int, each: int, batch_size: int, workers: int
) -> TrainConfig:
    """An epoch of plain training on photographs, written to `photos`, that stay in their files."""
    for label in range(classes):
        for number in range(each):
            put(photos / f"c{label:02}" / f"{number}.jpg", jpeg(label, number, 20, 20))
    return TrainConfig(
        f"{photos}",
        files=FilesConfig(stream=True, image_size=8),
        student=StudentConfig("tests.training.sharing:Smooth"),
        method=MethodConfig("full-model"),
        optimiser=OptimiserConfig(epochs=1, batch_size=batch_size, augment=False),
        machine=MachineConfig(workers=workers),
    )


def small(method: str = "mentornet-pd", **changes: Any) -> TrainConfig:
    """A run of six epochs on 192 digits; `changes` go to the group that has such a key."""
    settings: dict[str, Any] = {
        "noise": "uniform:0.4", "limit": 192, "student": "small-cnn", "width": 4, "epochs": 6,
        "batch_size": 32, "checkpoint_seconds": 0.0, "method": method,
        "set": METHOD_SETTINGS[method],
        "clean_count": 60 if make_method(method).needs.verdicts != "no" else None, **changes,
    }  # fmt: skip
    seed = settings.pop("seed", 0)
    groups: dict[str, Any] = {}
    for group, kind in (
        ("files", FilesConfig),
        ("labels", LabelsConfig),
        ("student", StudentConfig),
        ("method", MethodConfig),
        ("optimiser", OptimiserConfig),
        ("machine", MachineConfig),
    ):
        known = kind.__dataclass_fields__
        mine = {name: settings.pop(name) for name in list(settings) if name in known}
        groups[group] = kind(**mine)
    assert not settings, f"no such setting: {settings}"
    return TrainConfig("digits", seed=seed, **groups)


def prepared(method: str = "mentornet-pd", **changes: Any) -> Prepared:
    """What a trainer starts from."""
    return prepare(small(method, **changes))


def outcome(folder: Path) -> tuple[dict[str, Tensor], Any]:
    """The last and the best student and the records of a finished run."""
    run = RunFolder(folder)
    students = {"last": run.read_weights(run.last), "best": run.read_weights(run.best)}
    weights = {
        f"{which} {name}": part for which in students for name, part in students[which].items()
    }
    return weights, read_records(run.records)


def assert_same_outcome(one: Path, other: Path) -> None:
    """Bit for bit."""
    (weights, records), (other_weights, other_records) = outcome(one), outcome(other)
    assert weights.keys() == other_weights.keys()
    for name, value in weights.items():
        assert torch.equal(value, other_weights[name]), name
    assert list(records) == list(other_records)
    for column in records:
        left, right = records[column].tolist(), other_records[column].tolist()
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            assert (a == b).all() if hasattr(a, "all") else a == b, column
