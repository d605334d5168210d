"""A process that fails ends the others soon, with one line; here with no agent that would help."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.training.nodes import ROOT

RUN = [
    sys.executable, "-m", "mentornet", "train", "digits", "--student", "small-cnn", "--width", "4",
    "--checkpoint-seconds", "0", "--epochs", "500",
]  # fmt: skip


def pair(*commands: list[str], patience: int) -> list[subprocess.Popen[str]]:
    """Two processes that are started by hand, each as if on a machine of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}", "WORLD_SIZE": "2", "GROUP_RANK": "0",
        "LOCAL_WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "by-hand", "OMP_NUM_THREADS": "1",
        "MENTORNET_PATIENCE": f"{patience}",
    }  # fmt: skip
    return [
        subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            env={**os.environ, **shared, "RANK": f"{rank}", "LOCAL_RANK": f"{rank}"},
        )
        for rank, command in enumerate(commands)
    ]  # fmt: skip


def ended(process: subprocess.Popen[str], seconds: float = 60) -> str:
    try:
        _, told = process.communicate(timeout=seconds)
    finally:
        process.kill()
    assert process.returncode != 0
    return told


def test_one_cannot_read_its_files(tmp_path: Path) -> None:
    """Before the first step: one says what is wrong, the other that it is alone."""
    elsewhere = [f"{tmp_path}/nothing" if word == "digits" else word for word in RUN]
    out = ["--out", f"{tmp_path}/run"]
    first, second = pair([*RUN, *out], [*elsewhere, *out], patience=60)
    assert "nothing" in ended(second)
    told = ended(first)
    assert "mentornet: rank 0 has lost another process and ends" in told
    assert "Traceback" not in told


def test_one_is_frozen(tmp_path: Path) -> None:
    """It closes nothing and says nothing."""
    out = ["--out", f"{tmp_path}/run"]
    first, second = pair([*RUN, *out], [*RUN, *out], patience=4)
    metrics, deadline = tmp_path / "run" / "metrics.jsonl", time.monotonic() + 60
    while not metrics.exists():
        assert time.monotonic() < deadline
        assert first.poll() is None
        time.sleep(0.05)
    second.send_signal(signal.SIGSTOP)
    told = ended(first, 30)
    second.kill()
    second.communicate()
    assert "mentornet: rank 0 has not heard of rank 1 for 4 seconds and ends" in told
