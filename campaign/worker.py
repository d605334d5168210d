"""A process that tries one case after another, with limits, and says how each of them ended.

It reads lines of JSON from standard input: a door, a number and a seed, or a door and a node. It
answers each with a line of JSON. If it dies, the case that killed it is in `case.json`.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import resource
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from campaign.doors import DOORS
from campaign.nodes import Node, clear, draw_node
from mentornet import MentorNetError

__all__ = ["main", "resident"]

MEMORY = 1 << 30
"""Bytes that one case may take."""

SECONDS = 20.0
"""CPU time that one case may take."""

_VIRTUAL = 3 << 30  # bytes of addresses beside those; libraries reserve more than they use
_FILES = 200  # open files
_FORBIDDEN = {
    "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect",
    "pickle.find_class", "ctypes.dlopen",
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Watch:
    """Notes what no reader may do: run code, start programs, write elsewhere."""

    def __init__(self, home: Path) -> None:
        self.home, self.on, self.seen = os.fspath(home), False, ""
        self.changed, self.reached = "", False  # the changed file, and whether it was opened
        sys.addaudithook(self._hear)

    def _hear(self, event: str, details: tuple[Any, ...]) -> None:
        if self.on and event == "open" and isinstance(details[0], str | os.PathLike):
            self.reached |= os.path.basename(details[0]) == self.changed  # noqa: PTH119
        if not self.on or self.seen:
            return
        if event in _FORBIDDEN:
            self.seen = f"{event} {details!r:.100}"
        elif event == "import" and details[0] == "evil":
            self.seen = "it imported evil.py"
        elif event == "open" and isinstance(details[0], str) and isinstance(details[2], int):
            path = os.path.abspath(details[0])  # noqa: PTH100 - a hook must be quick
            if details[2] & _WRITING and not path.startswith((self.home, "/dev/")):
                self.seen = f"it wrote to {path}"


@contextmanager
def _limits() -> Iterator[None]:
    """Bound the addresses of the process."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + _VIRTUAL, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def resident(which: str) -> int:
    """VmRSS or VmHWM in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(which):
            return 1024 * int(line.split()[1])
    return 0


def _fault(error: BaseException) -> str:
    """What is wrong with an error, or nothing if it is one line for the user."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return f"memory: {error}"
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    if not isinstance(error, MentorNetError):
        place = traceback.extract_tb(error.__traceback__)[-3:]
        where = " < ".join(
            f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(place)
        )
        return f"trace: {type(error).__name__}: {error!s:.150} at {where}"
    if "\n" in f"{error}" or len(f"{error}") > 2_000:
        return f"message: {error!r:.150}"
    return ""


def _opened_unseen(node: Node) -> bool:
    """Whether the file counts as reached in any case: nothing tells us that it is opened.

    Checkpoints are renamed, and safetensors opens its files itself. What is no file is not opened.
    """
    return node.kind != "bytes" or node.file.endswith((".safetensors", ".pt"))


class Worker:
    """Tries cases in a folder of its own.

    Args:
        specimens: the folder with a folder for each door.
        home: a folder of this process alone.
    """

    def __init__(self, specimens: Path, home: Path) -> None:
        self.specimens, self.home = specimens, home
        self.warm: set[str] = set()  # doors that were used once
        self.watch = Watch(home)
        home.mkdir(parents=True, exist_ok=True)
        os.environ["TMPDIR"] = f"{home}"
        (home / "evil.py").write_text("open('ran', 'w').close()\nfactory = None\n")
        os.chdir(home)
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))

    def try_case(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Try one case."""
        name = asked["door"]
        door, place = DOORS[name], list(DOORS).index(name)
        original, folder = self.specimens / f"{place:02d}", self.home / f"{place:02d}"
        if door.writes or not folder.exists():
            clear(folder)
            shutil.copytree(original, folder, symlinks=True)
            self._warm_up(name, original, folder)
        node = Node(**asked["node"]) if "node" in asked else self._draw(asked, original)
        (self.home / "case.json").write_text(
            json.dumps({"door": name, "node": json.loads(node.text())})
        )
        path = folder / node.file
        node.put(folder)
        self.watch.changed, self.watch.reached = path.name, _opened_unseen(node)
        try:
            answer = self._measured(name, folder)
            return {**answer, "reached": self.watch.reached}
        finally:
            if not door.writes:
                clear(path)
                shutil.copy2(original / node.file, path)

    def _warm_up(self, name: str, original: Path, folder: Path) -> None:
        """Read the whole specimen once: libraries open files and take memory at the first use."""
        if name in self.warm:
            return
        self.warm.add(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            DOORS[name].read(folder)
        clear(folder)
        shutil.copytree(original, folder, symlinks=True)

    def _draw(self, asked: dict[str, Any], original: Path) -> Node:
        rng = random.Random(f"{asked['seed']} {asked['door']} {asked['number']}")
        files = sorted(
            {
                path.relative_to(original).as_posix()
                for pattern in DOORS[asked["door"]].files
                for path in original.glob(pattern)
                if path.is_file() and not path.name.startswith(".")
            }
        )
        return draw_node(rng, original, files)

    def _measured(self, name: str, folder: Path) -> dict[str, Any]:
        opened = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        Path("/proc/self/clear_refs").write_text("5")
        before, start, fault, refused = resident("VmRSS"), time.process_time(), "", False
        self.watch.seen = ""
        self.watch.on = True
        try:
            with _limits(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                DOORS[name].read(folder)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - this is what we look for
            refused, fault = True, _fault(error).replace(f"{self.home}/", "")
        self.watch.on = False
        seconds, memory = time.process_time() - start, resident("VmHWM") - before
        if len(os.listdir("/proc/self/fd")) > opened:  # noqa: PTH208
            gc.collect()
        left = len(os.listdir("/proc/self/fd")) - opened  # noqa: PTH208
        if self.watch.seen or (self.home / "ran").exists():
            fault = f"code: {self.watch.seen}"
            (self.home / "ran").unlink(missing_ok=True)
        elif not fault and memory > MEMORY:
            fault = f"memory: {memory >> 20} MB"
        elif not fault and seconds > SECONDS:
            fault = f"slow: {seconds:.0f} s"
        elif not fault and left > 0:
            fault = f"files: {left} are left open"
        return {"fault": fault, "refused": refused, "seconds": round(seconds, 2), "memory": memory}


def main(specimens: str, home: str) -> None:
    """Answer lines until there are no more."""
    import torch

    torch.set_num_threads(1)
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    worker = Worker(Path(specimens), Path(home))
    print("{}", file=answers, flush=True)
    code = 0
    try:
        for line in sys.stdin:
            print(json.dumps(worker.try_case(json.loads(line))), file=answers, flush=True)
    except Exception:  # noqa: BLE001 - a mistake of the campaign itself
        traceback.print_exc()
        code = 3
    sys.stderr.flush()
    os._exit(code)  # without waiting for threads of libraries


if __name__ == "__main__":
    main(*sys.argv[1:])
