"""Students of the user's own: what goes wrong in them is shown as theirs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mentornet.cli import main
from mentornet.students import make_student
from mentornet.training import RunFolder, load_student, predict, train
from tests.training.runs import assert_same_outcome, small
from tests.training.test_resume import interrupted

MODULE = """
import threading
import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.layer = nn.Linear(64 * channels, classes)

    def forward(self, images):
        return self.layer(images.flatten(1))

class Raises(Plain):
    def forward(self, images):
        return images.no_such_thing

class Late(Plain):
    def forward(self, images):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls > 3:
            raise KeyError("late")
        return super().forward(images)

class Empty(Plain):
    def __init__(self, channels, classes):
        super().__init__(channels, classes)
        del self.layer
        self.classes = classes

    def forward(self, images):
        return images.flatten(1)[:, :self.classes]

class Uncopied(Plain):
    def __init__(self, channels, classes):
        super().__init__(channels, classes)
        self.lock = threading.Lock()

class Detached(Plain):
    def forward(self, images):
        return super().forward(images).detach()

class Pairs(Plain):
    def forward(self, images):
        logits = super().forward(images)
        return logits if self.training else (logits, logits)

class Whole(Plain):
    def forward(self, images):
        return super().forward(images).long()

class Lazy(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.features = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten())
        self.layer = nn.LazyLinear(classes)

    def forward(self, images):
        return self.layer(self.features(images))

class Unused(Lazy):
    def forward(self, images):
        return self.features(images)[:, :10]

def frozen(channels, classes):
    return Plain(channels, classes).requires_grad_(False)

def fails(channels, classes):
    return {}["no such key"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "theirs_.py").write_text(MODULE)
    (tmp_path / "broken_.py").write_text("import os\n\nos.no_such_thing()\n")
    (tmp_path / "leaves_.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in ("theirs_", "broken_", "leaves_"):
        sys.modules.pop(name, None)


WORDS = [
    *("train", "digits", "--limit", "64", "--batch-size", "32", "--epochs", "1"),
    *("--method", "full-model", "--out", "run"),
]


@pytest.mark.parametrize(
    ("student", "message", "line"),
    [
        ("broken_:small", "AttributeError: module 'os' has no", "    os.no_such_thing()"),
        ("leaves_:small", "SystemExit: 3", "    sys.exit(3)"),
        ("theirs_:fails", "cannot be made: KeyError: 'no such key'", "    return {}"),
        ("theirs_:Raises", "AttributeError: 'Tensor' object", "    return images.no_such_thing"),
        ("theirs_:Empty", "has no parameters", None),
        ("theirs_:Uncopied", "copy.deepcopy, which it must: TypeError", None),
        ("theirs_:Detached", "do not depend on its parameters", None),
        ("theirs_:Pairs", "in evaluation, must make logits of shape (B, K) = (2, 10), got", None),
        ("theirs_:Whole", "must make logits that are floats, got torch.int64", None),
        ("theirs_:Unused", "has lazy layers that its forward does not use", None),
    ],
)
def test_a_student_that_cannot_work(
    student: str, message: str, line: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--student", student]) == 2
    said = capsys.readouterr().err.rstrip()
    assert "Traceback" not in said
    assert "src/mentornet" not in said
    assert message in said.splitlines()[-1]
    assert f"student '{student}'" in said.splitlines()[-1]
    assert line is None or line in said
    assert not (folder / "run").exists()


def test_a_student_that_fails_late(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--student", "theirs_:Late"]) == 2
    said = capsys.readouterr().err
    assert "your own code failed: KeyError: 'late' (theirs_.py" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("method", ["mentornet-pd", "co-teaching", "elr", "mentor-bootstrap"])
def test_lazy_students_work(method: str, folder: Path) -> None:
    verified = {"clean_count": 60} if method == "mentor-bootstrap" else {}
    config = small(method, student="theirs_:Lazy", width=None, epochs=2, **verified)
    summary = train(config, folder / "whole")
    run = RunFolder(folder / "whole")
    interrupted(config, folder / "stopped", 2)
    train(config, folder / "stopped", resume=True)
    assert_same_outcome(run.path, folder / "stopped")
    student = load_student(run, trust_code=True)
    assert predict(student, torch.zeros(2, 1, 8, 8, dtype=torch.uint8)).shape == (2, 10)
    students = 2 if method == "co-teaching" else 1
    assert summary["parameters"] == students * (4 * 9 + 4 + 2 * 4 + 4 * 36 * 10 + 10)


@pytest.mark.parametrize("method", ["mentornet-pd", "full-model", "goldberger"])
def test_frozen_students_work_and_stay_as_they_are(method: str, folder: Path) -> None:
    config = small(method, student="theirs_:frozen", width=None, epochs=2, accumulate=2)
    train(config, folder / "run")
    fresh = make_student("theirs_:frozen", channels=1, classes=10).state_dict()
    run = RunFolder(folder / "run")
    assert all(torch.equal(part, fresh[name]) for name, part in run.read_weights(run.last).items())
