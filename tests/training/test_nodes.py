"""Two machines for real, with their own addresses: the same result, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import mentornet, run_ranks
from tests.training.nodes import Node, finish, two_nodes
from tests.training.runs import assert_same_outcome

pytestmark = pytest.mark.slow

WORDS = [
    "mentornet", "train", "digits", "--noise", "uniform:0.4", "--limit", "400", "--epochs", "12",
    "--batch-size", "50", "--student", "small-cnn", "--width", "8", "--checkpoint-seconds", "0",
]  # fmt: skip
_PATIENCE = 4


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Node, Node]]:
    with two_nodes() as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes on one machine come to."""
    out = tmp_path_factory.mktemp("one") / "run"
    for code, told in run_ranks(out.parent, mentornet, *WORDS[1:], "--out", f"{out}"):
        assert code == 0, told[-3000:]
    return out


Disturb = Callable[[list[Path]], None]


def run_on(
    nodes: tuple[Node, Node], folder: Path, disturb: dict[int, Disturb] | None = None
) -> list[str]:
    """Train on both, disturbed after so many epochs; what each of them has said."""
    out, logs = folder / "run", [folder / "first.log", folder / "second.log"]
    running = [
        node.torchrun([*WORDS, "--out", f"{out}"], log, MENTORNET_PATIENCE=f"{_PATIENCE}")
        for node, log in zip(nodes, logs, strict=True)
    ]
    try:
        for epochs, happens in (disturb or {}).items():
            metrics = out / "metrics.jsonl"
            while not metrics.exists() or len(metrics.read_text().splitlines()) < epochs:
                assert all(agent.poll() is None for agent in running), logs[0].read_text()[-2000:]
                time.sleep(0.05)
            happens(logs)
    finally:
        finish(running, logs, 180)
    return [log.read_text() for log in logs]


def test_two_machines_equal_one(
    nodes: tuple[Node, Node], undisturbed: Path, tmp_path: Path
) -> None:
    run_on(nodes, tmp_path)
    assert_same_outcome(tmp_path / "run", undisturbed)


def test_a_process_is_killed_and_the_cable_is_cut_for_a_while(
    nodes: tuple[Node, Node], undisturbed: Path, tmp_path: Path
) -> None:
    """One thing after the other, and each time all go on from the checkpoint.

    A killed process is a failure only to the agent beside it. On a cut cable nothing is closed,
    only silent; both give up, and go on when they find each other again.
    """
    before: list[str] = []

    def kill(_: list[Path]) -> None:
        os.kill(nodes[1].worker(), signal.SIGKILL)

    def cut(logs: list[Path]) -> None:
        before.extend(log.read_text() for log in logs)
        nodes[1].cut()
        try:
            deadline = time.monotonic() + 30
            while not all("has not heard of rank" in log.read_text() for log in logs):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            nodes[1].mend()

    first, second = run_on(nodes, tmp_path, {3: kill, 6: cut})
    assert "continuing after epoch" in before[0]
    assert "Traceback" not in before[0] + before[1]
    assert f"rank 0 has not heard of rank 1 for {_PATIENCE} seconds" in first
    assert f"rank 1 has not heard of rank 0 for {_PATIENCE} seconds" in second
    assert first.count("continuing after epoch") >= 2
    assert_same_outcome(tmp_path / "run", undisturbed)
