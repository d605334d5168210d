"""Commands that are stopped from outside: one line says what is saved and how to go on."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mentornet.cli import main
from mentornet.cli.commands import COMMANDS
from mentornet.cli.mentor_folder import check_out
from mentornet.errors import MentorNetError
from mentornet.mentors import load_mentor, shipped
from mentornet.training import Observer, RunFolder
from mentornet.training import train as train_run
from tests.training.runs import assert_same_outcome, small

RUN = ["digits", "--limit", "64", "--batch-size", "32", "--student", "small-cnn", "--width", "2"]
TRAIN = ["train", *RUN, "--method", "full-model", "--epochs", "3", "--checkpoint-seconds", "0"]


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.strip().splitlines()[-1]


def killing(number: int, after: int) -> Any:
    """`RunFolder.write_metrics`, with a signal to this process when some epochs have ended."""
    write = RunFolder.write_metrics

    def stops(run: RunFolder, rows: list[dict[str, Any]]) -> None:
        write(run, rows)
        if len(rows) == after:
            os.kill(os.getpid(), number)
            time.sleep(5)  # the signal comes first

    return stops


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
)
def test_a_signal_ends_a_run_that_can_go_on(
    number: signal.Signals, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    whole, out = tmp_path / "whole", tmp_path / "run"
    assert main([*TRAIN, "--out", f"{whole}"]) == 0
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_metrics", killing(number, 2))
        assert main([*TRAIN, "--out", f"{out}"]) == 128 + number
    assert signal.getsignal(signal.SIGTERM) is before
    go_on = f"mentornet train --out {out} --resume"
    expected = f"mentornet: {word}; {out} is saved up to epoch 1; continue with: {go_on}"
    assert last_line(capsys) == expected
    assert main(go_on.split()[1:]) == 0
    assert_same_outcome(whole, out)


def test_a_signal_before_the_first_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    monkeypatch.setattr(RunFolder, "write_metrics", killing(signal.SIGTERM, 1))
    assert main([*TRAIN, "--out", f"{out}"]) == 143
    assert f"{out} has no checkpoint yet; start it again with: mentornet" in last_line(capsys)


WORDS = {
    "train": ["digits", "--out", "new"], "predict": ["run", "a.png"], "audit": ["run"],
    "shards": ["photos", "shards"], "demo": [], "mentors": [], "plot": ["mentor", "pd"],
    "fit-mentor": ["--curriculum", "linear", "--out", "m"], "reproduce": ["table2"],
    "learn-mentor": ["--run-folder", "run", "--out", "m"], "compare": ["runs"],
}  # fmt: skip


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_says_how_to_go_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(COMMANDS[name].load(), "run", stop)
    assert main([name, *WORDS[name]]) == 143
    said = last_line(capsys)
    assert said.startswith("mentornet: terminated; ")
    assert "the same command" in said


def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, places = tmp_path / "run", []
    sync = os.fsync

    def fills_up(number: int) -> None:
        places.append(number)
        sync(number)
        if len(places) >= 12:
            raise OSError(28, "No space left on device")

    fills_up.__code__ = fills_up.__code__.replace(co_filename="<system>")  # not the user's
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fills_up)
        assert main([*TRAIN, "--out", f"{out}"]) == 2
    said = last_line(capsys)
    assert ": No space left on device; " in said
    assert f"continue with: mentornet train --out {out} --resume" in said
    assert not [path for path in out.rglob(".*") if path.name != ".lock"]
    assert main(["train", "--out", f"{out}", "--resume"]) == 0


def test_a_folder_that_cannot_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TRAIN, "--out", "/proc/run"]) == 2
    assert "nothing was saved; run the same command again" in last_line(capsys)


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    class Removes(Observer):
        def epoch(self, row: Mapping[str, Any]) -> None:
            shutil.rmtree(tmp_path / "run")

    with pytest.raises(MentorNetError, match="run has vanished while the run was going on"):
        train_run(small(epochs=2), tmp_path / "run", observer=Removes())


def test_a_mentor_that_was_being_replaced_is_put_back(tmp_path: Path) -> None:
    left = tmp_path / ".mine.abcd1234"
    shutil.copytree(shipped()["pd"], left / "before")
    (left / "mentor").mkdir()
    long_ago = time.time() - 60
    os.utime(left, (long_ago, long_ago))
    with pytest.raises(MentorNetError, match="is not empty"):
        check_out(tmp_path / "mine", overwrite=False)
    assert load_mentor(tmp_path / "mine").name == "bilstm"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
