"""Two machines out of one: two network namespaces, each with an address of its own, and a cable."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PORT = 29400


def ip(*words: str) -> str:
    return subprocess.run(
        ["ip", *words], check=True, capture_output=True, text=True, timeout=20
    ).stdout


@dataclass(frozen=True)
class Node:
    """One of the machines.

    Attributes:
        name: of its namespace.
        link: its end of the cable.
        number: 1 or 2; the first is where the agents meet.
    """

    name: str
    link: str
    number: int

    @property
    def address(self) -> str:
        return f"10.213.77.{self.number}"

    def torchrun(self, words: list[str], log: Path, **environment: str) -> subprocess.Popen[bytes]:
        """This machine's part of a training by both."""
        command = [
            "ip", "netns", "exec", self.name, sys.executable, "-m", "torch.distributed.run",
            "--nnodes", "2", "--nproc-per-node", "1", "--max-restarts", "9",
            "--rdzv-backend", "c10d", "--rdzv-endpoint", f"10.213.77.1:{_PORT}",
            "--rdzv-id", "one", "--rdzv-conf", f"is_host={int(self.number == 1)}",
            "--local-addr", self.address, "-m", *words,
        ]  # fmt: skip
        with log.open("wb") as file:
            return subprocess.Popen(
                command, cwd=ROOT, stdout=file, stderr=file,
                env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": self.link,
                     **environment},
            )  # fmt: skip

    def worker(self) -> int:
        """The process that trains here."""
        for pid in ip("netns", "pids", self.name).split():
            words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
            if b"train" in words and b"torch.distributed.run" not in words:
                return int(pid)
        raise AssertionError(f"nobody trains on {self.name}")

    def cut(self) -> None:
        ip("-n", self.name, "link", "set", self.link, "down")

    def mend(self) -> None:
        ip("-n", self.name, "link", "set", self.link, "up")


@contextmanager
def two_nodes() -> Iterator[tuple[Node, Node]]:
    """Make both machines, and the cable between them."""
    made = f"mn{os.getpid()}"
    nodes = Node(f"{made}a", f"{made}va", 1), Node(f"{made}b", f"{made}vb", 2)
    try:
        _plug(*nodes)
        yield nodes
    finally:
        _unplug(nodes)


@cache
def why_no_nodes() -> str | None:
    """What keeps this machine from being two, or None if nothing does."""
    try:
        with two_nodes():
            return None
    except OSError as error:
        return f"{error}"
    except subprocess.CalledProcessError as error:
        return f"{error.stderr}".strip()


def _plug(one: Node, other: Node) -> None:
    for node in (one, other):
        ip("netns", "add", node.name)
    ip("link", "add", one.link, "netns", one.name, "type", "veth",
       "peer", "name", other.link, "netns", other.name)  # fmt: skip
    for node in (one, other):
        ip("-n", node.name, "addr", "add", f"{node.address}/24", "dev", node.link)
        ip("-n", node.name, "link", "set", "lo", "up")
        ip("-n", node.name, "link", "set", node.link, "up")


def _unplug(nodes: tuple[Node, Node]) -> None:
    if shutil.which("ip") is not None:
        for node in nodes:
            subprocess.run(["ip", "netns", "delete", node.name], capture_output=True, check=False)


def finish(running: list[subprocess.Popen[bytes]], logs: list[Path], seconds: float) -> None:
    """Wait for both agents, and see that they have ended well."""
    deadline = time.monotonic() + seconds
    try:
        for agent in running:
            agent.wait(max(0.0, deadline - time.monotonic()))
    finally:
        for agent in running:
            agent.kill()
            agent.wait()
    told = "\n".join(log.read_text()[-2000:] for log in logs)
    assert [agent.returncode for agent in running] == [0, 0], told
