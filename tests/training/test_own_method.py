"""`--method module:factory`: a method of the user's own, from its first step to its end."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from mentornet.cli import main
from mentornet.config import MethodConfig, TrainConfig
from mentornet.errors import MentorNetError
from mentornet.methods import make_method
from mentornet.training import RunFolder, Trainer, prepare, train
from tests.training.own_methods import MeanTeacher
from tests.training.runs import assert_same_outcome, small
from tests.training.test_resume import interrupted

OWN = "tests.training.own_methods:MeanTeacher"


def config(*settings: str, method: str = OWN, **changes: Any) -> TrainConfig:
    return replace(small("full-model", **changes), method=MethodConfig(method, settings))


def test_it_is_trained_and_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """Settings, hooks and numbers of its own; its average is restored with the student."""
    own = config("strength=2")
    summary = train(own, tmp_path / "whole")
    assert summary["epochs"] == 6
    rows = RunFolder(tmp_path / "whole").read_metrics()
    assert [row["ramp"] for row in rows] == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0]
    assert [row["ended"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for after in (1, 4):
        stopped = tmp_path / f"stopped-{after}"
        interrupted(own, stopped, after)
        train(own, stopped, resume=True)
        assert_same_outcome(tmp_path / "whole", stopped)


def test_it_makes_a_difference(tmp_path: Path) -> None:
    """With strength 0 it is plain training bit for bit: a further view changes no other draw.

    (With batch norm the further look would move running averages.)
    """
    changes: dict[str, Any] = {
        "student": "tests.training.sharing:Normless", "width": None, "epochs": 2,
    }  # fmt: skip
    train(config("strength=0", **changes), tmp_path / "nothing")
    train(small("full-model", **changes), tmp_path / "plain")
    assert_same_outcome(tmp_path / "nothing", tmp_path / "plain")
    train(config("strength=2", **changes), tmp_path / "own")
    with pytest.raises(AssertionError):
        assert_same_outcome(tmp_path / "own", tmp_path / "plain")


def test_the_second_view_and_the_average_by_hand() -> None:
    """w̄ ← 0.9 w̄ + 0.1 w after every step, and running statistics as they are."""
    trainer = Trainer(prepare(config("strength=2", augment=True)))
    plain = Trainer(prepare(small("full-model", augment=True)))
    assert trainer.average is not None
    expected = [part.detach().clone() for part in trainer.module.parameters()]
    trainer.supervision.begin_epoch(0)
    trainer.student.train()
    for batch, other in zip(trainer.batches.epoch(0), plain.batches.epoch(0), strict=True):
        assert torch.equal(batch.inputs, other.inputs)
        assert other.second is None
        assert batch.second is not None
        assert batch.second.shape == batch.inputs.shape
        assert not torch.equal(batch.second, batch.inputs)
        trainer.step(batch, 0)
        for mean, weight in zip(expected, trainer.module.parameters(), strict=True):
            mean.mul_(0.9).add_(0.1 * weight.detach())
    for mean, found in zip(expected, trainer.average.module.parameters(), strict=True):
        torch.testing.assert_close(found, mean)
        assert not found.requires_grad
    for kept, buffer in zip(
        trainer.average.module.buffers(), trainer.module.buffers(), strict=True
    ):
        assert torch.equal(kept, buffer)
    again = next(iter(trainer.batches.epoch(0)))
    assert again.second is not None
    assert torch.equal(trainer.average(again.second), trainer.average(again.second))


def test_without_random_views_the_two_are_one() -> None:
    trainer = Trainer(prepare(config(augment=False)))
    batch = next(iter(trainer.batches.epoch(0)))
    assert batch.second is not None
    assert torch.equal(batch.second, batch.inputs)


def test_it_is_made_with_its_settings() -> None:
    assert make_method(OWN, strength=3.0) == MeanTeacher(3.0)


MODULE = """
from mentornet.methods import Method, Supervision

class Plain(Method):
    name = title = summary = "plain"

    def start(self, task):
        return Supervision()

class Mean(Supervision):
    def losses(self, outputs, label, batch):
        return super().losses(outputs, label, batch).mean()

class Scalar(Plain):
    def start(self, task):
        return Mean()

class Tired(Supervision):
    def losses(self, outputs, label, batch):
        return outputs.logits.sum(dim=9)

class Late(Plain):
    def start(self, task):
        return Tired()

def raises():
    raise ValueError("out of ideas")

def nothing():
    return None

def settled(rate: float = 0.1):
    return Plain()

thing = 3
"""

BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "no_such_module_:made": ((), "ModuleNotFoundError: No module named 'no_such_module_'"),
    "ours_:made": ((), "AttributeError: module 'ours_' has no attribute 'made'"),
    "ours_:": ((), "must name a module and a factory in it"),
    ":made": ((), "must name a module and a factory in it"),
    "broken_:made": ((), "SyntaxError"),
    "ours_:thing": ((), "is not a function or class"),
    "ours_:raises": ((), "cannot be made: ValueError: out of ideas"),
    "ours_:settled": (("rat=0.2",), "got an unexpected keyword argument 'rat'"),
    "ours_:nothing": ((), "must return a mentornet.methods.Method, got NoneType"),
    "ours_:Scalar": ((), "must return one loss per sample, (32,), got a tensor of shape ()"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own, with modules in it."""
    (tmp_path / "ours_.py").write_text(MODULE)
    (tmp_path / "broken_.py").write_text("def made(:\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = [
    *("train", "digits", "--limit", "64", "--batch-size", "32", "--epochs", "1"),
    *("--student", "small-cnn", "--width", "2"),
]


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_clear_line(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, message = BAD[name]
    words = [*WORDS, "--method", name, *(part for one in settings for part in ("--set", one))]
    assert main([*words, "--out", f"{folder / 'run'}"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert message in said.strip().splitlines()[-1]
    own = config(*settings, method=name, limit=64, width=2, epochs=1)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        train(own)


def test_an_error_in_a_step_names_the_line_of_the_users_code(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--method", "ours_:Late", "--out", "run"]) == 2
    said = capsys.readouterr().err.strip()
    assert "mentornet: your own code failed: IndexError: Dimension out of range" in said
    line = 1 + MODULE.splitlines().index("        return outputs.logits.sum(dim=9)")
    assert f"(ours_.py, line {line}, in losses)" in said
    assert "\n    return outputs.logits.sum(dim=9)" in said
    assert "Traceback" not in said
    assert "trainer.py" not in said


def test_a_method_in_the_working_folder_by_the_command_line(folder: Path) -> None:
    words = [*WORDS, "--method", "ours_:settled", "--set", "rate=0.2", "--out", "run"]
    assert main(words) == 0
    assert RunFolder(folder / "run").read_summary()["method"] == "ours_:settled"
