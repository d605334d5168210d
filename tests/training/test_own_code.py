"""A run folder from a stranger runs no code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mentornet.cli import main
from mentornet.training import RunFolder, train
from tests.training.runs import small

CODE = """
from pathlib import Path
Path("ran").touch()
from mentornet.students import SmallCNN as student
from mentornet.methods import MentorNetPD as method
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stranger") / "run"
    train(small(epochs=1), folder)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run, with code beside it that its config names."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "theirs.py").write_text(CODE)
    monkeypatch.chdir(folder)
    return folder


def names(run: Path, before: str, after: str) -> None:
    config = RunFolder(run).config
    text = config.read_text()
    assert before in text
    config.write_text(text.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('student = "small-cnn"', 'student = "theirs:student"'),
        ('method = "mentornet-pd"', 'method = "theirs:method"'),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        "audit .", "train --out . --resume", "train --config config.toml --out new",
        "train --config=config.toml --dry-run", "learn-mentor --run-folder . --out mentor",
    ],
)  # fmt: skip
def test_code_that_only_a_file_names_does_not_run(
    before: str, after: str, words: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names(run, before, after)
    assert main(words.split()) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "names code of its own" in said
    assert "--trust-code" in said
    assert not (run / "ran").exists()


def test_predict_runs_the_code_only_if_it_is_trusted(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names(run, 'student = "small-cnn"', 'student = "theirs:student"')
    assert main(["predict", ".", "curves.png"]) == 2
    assert not (run / "ran").exists()
    main(["predict", ".", "no-such.png", "--trust-code"])
    assert (run / "ran").exists()


def test_code_that_the_command_names_runs(run: Path) -> None:
    names(run, 'student = "small-cnn"', 'student = "theirs:student"')
    words = ["train", "--config", "config.toml", "--student", "theirs:student", "--dry-run"]
    assert main(words) == 0
    assert main([*words[:3], "--trust-code", "--dry-run"]) == 0
    assert main([*words[:3], "--student", "small-cnn", "--dry-run"]) == 0
