"""A config goes to TOML and back, and no key passes unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
    differences,
    read_config,
    to_toml,
    write_config,
)
from mentornet.errors import MentorNetError
from mentornet.training import prepare
from tests.training.runs import METHOD_SETTINGS, small

FULL = TrainConfig(
    'a "quoted" \\ folder/näïve',
    seed=2**63 - 1,
    files=FilesConfig(
        "data", "http://mirror/x", 32, True, "images", True, 500, "t", "l", "l.npy", 0.1
    ),
    labels=LabelsConfig("uniform:0.4", ("clean.csv", "page.csv")),
    student=StudentConfig("resnet", 16, 20, 0.25),
    method=MethodConfig("mentornet-dd", ("updates=0.2,0.5", "mentor=pd")),
    optimiser=OptimiserConfig(
        "adamw", 10.0, None, 7, 8, 1e-05, "steps", 0.0, (0.5,), 0.5, False, 0.0, "all", False
    ),
    machine=MachineConfig("cpu", "bf16", "on", "off", 3, 1.5, True),
)


@pytest.mark.parametrize("config", [FULL, TrainConfig("digits")], ids=["full", "empty"])
def test_round_trip(config: TrainConfig, tmp_path: Path) -> None:
    write_config(tmp_path / "config.toml", config)
    assert read_config(tmp_path / "config.toml") == config


@pytest.mark.parametrize("method", list(METHOD_SETTINGS))
def test_the_resolved_config_resolves_to_itself(method: str, tmp_path: Path) -> None:
    resolved = prepare(small(method)).config
    write_config(tmp_path / "config.toml", resolved)
    assert prepare(read_config(tmp_path / "config.toml")).config == resolved


def test_nothing_is_left_open_but_what_does_not_apply() -> None:
    config = prepare(TrainConfig("digits")).config
    assert config.method.method == "mentornet-early"
    left = [key for key, value in vars(config.optimiser).items() if value is None]
    assert left == ["optimiser", "head_rate", "steps"]  # SGD, which has no rate for a head
    assert config.student.student == "small-cnn"


def test_verified_samples_are_learned_from_by_default() -> None:
    labels = LabelsConfig(noise="uniform:0.4", clean_count=50)
    assert prepare(TrainConfig("digits", labels=labels)).config.method.method == "mentornet-early"


def test_differences_are_named() -> None:
    other = replace(FULL, seed=1, student=replace(FULL.student, width=8))
    assert differences(FULL, other) == [
        f"seed is {2**63 - 1}, not 1",
        "student.width is 16, not 8",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('data = "digits"\nsede = 1', "the config has no key 'sede'; did you mean 'seed'"),
        ('data = "digits"\n[optimiser]\nepoch = 1', r"\[optimiser\] has no key 'epoch'; did you"),
        ('data = "digits"\n[optimiser]\nepochs = "1"', "epochs must be a whole number, got '1'"),
        ('data = "digits"\n[optimiser]\nepochs = true', "epochs must be a whole number, got True"),
        ('data = "digits"\n[optimiser]\nschedule = "cos"', "schedule must be one of cosine"),
        ('data = "digits"\n[optimiser]\ndecayed = "none"', "decayed must be one of weights, all"),
        ('data = "digits"\n[optimiser]\ndrops = 0.5', "drops must be a list, got 0.5"),
        ('data = "digits"\noptimiser = 3', r"optimiser must be a table, \[optimiser\], got 3"),
        ('data = "digits"\n[files]\nskip_bad = 1', "skip_bad must be true or false, got 1"),
        ("seed = 1", "must name the data"),
        ("data = ", "is not TOML"),
    ],
)
def test_bad_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(MentorNetError, match=message):
        read_config(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="is missing"):
        read_config(tmp_path / "config.toml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 0}, "epochs must be ≥ 1, got 0"),
        ({"batch_size": -1}, "batch_size must be ≥ 1"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0"),
        ({"weight_decay": -1.0}, "weight_decay must be ≥ 0"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\)"),
        ({"warm_up": 1.0}, "warm_up must be a share"),
        ({"momentum": 1.0}, r"momentum must be in \[0, 1\)"),
        ({"drops": (0.9, 0.1)}, "drops must be rising shares"),
        ({"seed": -1}, "seed must be in 0"),
        ({"limit": 1}, "limit must be ≥ 2"),
    ],
)
def test_bad_values(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        small(**changes)


def test_toml_is_readable() -> None:
    assert to_toml(TrainConfig("digits", seed=3)).splitlines()[:3] == [
        'data = "digits"',
        "seed = 3",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 30_000, "is not TOML"),
        ("x = " + "{a=" * 10_000, "is not TOML"),
        ("a" + ".a" * 16_000 + " = 1", "must name the data"),
        ("x = 1\n" * 10_000, "bytes; at most"),
        ("x" * 30_000 + " = 1", "has no key 'xxx"),
        ("seed = " + "9" * 5000, "is not TOML"),
        ("[optimiser]\nepochs = 100000000000000000000000", "epochs must be at most 1000000"),
        ("[optimiser]\nepochs = -" + "9" * 4000, "epochs must be ≥ 1, got a number of many"),
        ("[optimiser]\nlearning_rate = 1e308", "learning_rate must be at most 1e+38"),
        ("[optimiser]\nlearning_rate = " + "9" * 400, "learning_rate must be at most 1e+38"),
        ("[optimiser]\npadding = 1000000", "padding must be at most 10000"),
        ("[student]\nwidth = 1000000000000", "width must be at most 100000"),
    ],
)
def test_absurd_config_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text if text.startswith("a.") else f'data = "digits"\n{text}')
    with pytest.raises(MentorNetError) as caught:
        read_config(path)
    said = f"{caught.value}"
    assert said.startswith(f"{path}")
    assert message in said
    assert len(said) < 500
    assert "\n" not in said
