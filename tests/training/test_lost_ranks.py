"""A process that fails ends the others soon, with one line; here with no agent that would help."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.processes import Started, mentornet, start_ranks

RUN = [
    "train", "digits", "--student", "small-cnn", "--width", "4", "--checkpoint-seconds", "0",
    "--epochs", "500",
]  # fmt: skip


def pair(folder: Path, *commands: list[str], patience: int) -> list[Started]:
    """Two processes, each as if on a machine of its own."""
    parts = [(mentornet, tuple(command)) for command in commands]
    return start_ranks(folder, *parts, MENTORNET_PATIENCE=f"{patience}")


def ended(process: Started, seconds: float = 60) -> str:
    code, told = process.end(seconds)
    assert code != 0
    return told


def test_one_cannot_read_its_files(tmp_path: Path) -> None:
    """Before the first step: one says what is wrong, the other that it is alone."""
    elsewhere = [f"{tmp_path}/nothing" if word == "digits" else word for word in RUN]
    out = ["--out", f"{tmp_path}/run"]
    first, second = pair(tmp_path, [*RUN, *out], [*elsewhere, *out], patience=60)
    assert "nothing" in ended(second)
    told = ended(first)
    assert "mentornet: rank 0 has lost another process and ends" in told
    assert "Traceback" not in told


def test_one_is_frozen(tmp_path: Path) -> None:
    """It closes nothing and says nothing."""
    out = ["--out", f"{tmp_path}/run"]
    first, second = pair(tmp_path, [*RUN, *out], [*RUN, *out], patience=4)
    metrics, deadline = tmp_path / "run" / "metrics.jsonl", time.monotonic() + 60
    while not metrics.exists():
        assert time.monotonic() < deadline
        assert first.running()
        time.sleep(0.05)
    assert second.process.pid is not None
    os.kill(second.process.pid, signal.SIGSTOP)
    told = ended(first, 30)
    second.process.kill()
    second.process.join()
    assert "mentornet: rank 0 has not heard of rank 1 for 4 seconds and ends" in told
