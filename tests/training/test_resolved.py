"""A stored run says all that it was made with, so that new defaults change nothing of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mentornet.cli import main
from mentornet.config import TrainConfig, read_config
from mentornet.methods.reed import ReedSoft
from mentornet.methods.settings import parse_settings
from mentornet.students import SmallCNN
from mentornet.training import prepare, recipes, train
from tests.training.runs import assert_same_outcome, small
from tests.training.stopping import StoppedError, StopsAfter

PLAIN = {"student": None, "width": None, "batch_size": None, "epochs": 2, "limit": 96}


def open_config() -> TrainConfig:
    """A run whose student, schedule and method's settings are left to the defaults."""
    return small("reed-soft", **PLAIN)


def change_defaults(patch: pytest.MonkeyPatch) -> None:
    """Another β, another momentum and another width: none of them may reach a stored run."""
    patch.setattr(ReedSoft.__init__, "__defaults__", (0.5,))
    patch.setattr(recipes, "TINY", replace(recipes.TINY, momentum=0.5, batch_size=16))
    channels, classes, _, dropout = SmallCNN.__init__.__defaults__ or ()
    patch.setattr(SmallCNN.__init__, "__defaults__", (channels, classes, 4, dropout))


def test_every_setting_has_its_value_in_the_config() -> None:
    config = prepare(open_config()).config
    assert parse_settings(config.method.set) == {"beta": 0.95}
    assert config.optimiser.momentum == 0.9
    assert (config.student.width, config.student.dropout) == (32, 0.0)


def test_new_defaults_do_not_change_a_rerun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = open_config()
    train(config, tmp_path / "before")
    stored = read_config(tmp_path / "before" / "config.toml")
    change_defaults(monkeypatch)
    assert prepare(config).config != stored  # the patch does reach a run that leaves them open
    file = f"{tmp_path / 'before' / 'config.toml'}"
    assert main(["train", "--config", file, "--out", f"{tmp_path / 'after'}"]) == 0
    assert read_config(tmp_path / "after" / "config.toml") == stored
    assert_same_outcome(tmp_path / "before", tmp_path / "after")


def test_new_defaults_do_not_change_what_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = open_config()
    train(config, tmp_path / "whole")
    with pytest.raises(StoppedError):
        train(config, tmp_path / "stopped", observer=StopsAfter(1))
    change_defaults(monkeypatch)
    assert main(["train", "--out", f"{tmp_path / 'stopped'}", "--resume"]) == 0
    assert_same_outcome(tmp_path / "whole", tmp_path / "stopped")


def test_settings_on_the_command_line_override_the_file_one_by_one(tmp_path: Path) -> None:
    train(small("mentornet-pd", limit=96, epochs=1), tmp_path / "one")
    words = ["train", "--config", f"{tmp_path / 'one' / 'config.toml'}"]
    assert main([*words, "--set", "burn_in=0.4", "--out", f"{tmp_path / 'two'}"]) == 0
    one, two = (
        parse_settings(read_config(tmp_path / name / "config.toml").method.set)
        for name in ("one", "two")
    )
    assert two == {**one, "burn_in": 0.4}
    assert main([*words, "--method", "reed-soft", "--out", f"{tmp_path / 'three'}"]) == 0
    three = read_config(tmp_path / "three" / "config.toml").method
    assert (three.method, three.set) == ("reed-soft", ("beta=0.95",))
