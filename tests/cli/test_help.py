"""Help texts list what the registries hold, and options become plain configs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from mentornet import ARCHITECTURES, CURRICULA
from mentornet.cli.commands import parse
from mentornet.cli.train import Train
from mentornet.config import (
    LabelsConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
    write_config,
)
from mentornet.data import DATASETS
from mentornet.experiments.catalogue import FIGURES, TABLES
from mentornet.methods import METHODS
from mentornet.students import STUDENTS


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("train", [*DATASETS, *METHODS, *STUDENTS]),
        ("fit-mentor", [*CURRICULA, *ARCHITECTURES]),
        ("plot", CURRICULA),
        ("reproduce", [*TABLES, *FIGURES]),
    ],
    ids=["train", "fit-mentor", "plot", "reproduce"],
)
def test_help_lists_every_name(
    command: str,
    names: Iterable[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        parse(command, ["--help"])
    shown = capsys.readouterr().out.replace(",", " ").replace(":", " ").replace(")", " ")
    words = shown.replace("(", " ").split()
    assert set(names) <= set(words)


def options(*words: str) -> TrainConfig:
    command = parse("train", list(words))
    assert isinstance(command, Train)
    return command.settings()


PLAIN = TrainConfig(
    "digits",
    labels=LabelsConfig(verdicts=("a.csv", "b.csv")),
    student=StudentConfig("fast", width=8),
    method=MethodConfig("mentornet-pd", ("percentile=0.6",)),
    optimiser=OptimiserConfig(epochs=3),
)


def test_options_make_a_plain_config() -> None:
    """Equal to one that is built in Python, class by class."""
    words = ["--method", "mentornet-pd", "--set", "percentile=0.6", "--student", "fast"]
    more = ["--width", "8", "--epochs", "3", "--verdicts", "a.csv", "b.csv"]
    assert options("digits", *words, *more, "--out", "runs/x") == PLAIN


def test_options_override_a_config_file(tmp_path: Path) -> None:
    write_config(tmp_path / "config.toml", PLAIN)
    words = ["digits", "--config", str(tmp_path / "config.toml"), "--out", "runs/x"]
    assert options(*words) == PLAIN
    other = options(*words, "--method", "focal", "--width", "16")
    assert other.method == MethodConfig("focal")  # the file's settings are of another method
    assert other.student == StudentConfig("fast", width=16)
    assert other.labels == PLAIN.labels
