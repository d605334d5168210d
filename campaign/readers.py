"""Files of strangers: many changed files for every door, in processes with limits."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from campaign.ledger import HANGS, Ledger

__all__ = ["Hand", "make_specimens", "try_files", "turns"]

_CASES = 500  # after which a process is replaced by a new one
_STARTS, _MOST_CPU = 120.0, 100.0  # seconds of doing nothing at the start, and of CPU time
ROOT = Path(__file__).parents[1]


def make_specimens(folder: Path, names: list[str]) -> None:
    """Write the specimens of the doors that have none yet."""
    from campaign.doors import DOORS

    for place, (name, door) in enumerate(DOORS.items()):
        home = folder / f"{place:02d}"
        if name in names and not home.exists():
            making = folder / f"{place:02d}.making"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(parents=True)
            door.make(making)
            door.read(making) if not door.writes else None
            making.rename(home)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["Z", *["0"] * 20]


def _cpu(pid: int) -> float:
    """The CPU time of a process in seconds; the clock on the wall says little on a busy machine."""
    stat = _stat(pid)
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def _waits_for_cpu(pid: int) -> bool:
    return _stat(pid)[0] == "R"


class Hand:
    """The other end of a worker: it starts one, hands it cases, and notes if it dies or hangs.

    Args:
        specimens: the folder with a folder for each door.
        home: the folder of the worker.
        before: a line of Python that the worker runs first.
        hangs: seconds after which a case counts as hanging.
    """

    def __init__(
        self, specimens: Path, home: Path, *, before: str = "", hangs: float = HANGS
    ) -> None:
        self.specimens, self.home, self.done = specimens, home, 0
        self.before, self.hangs = before, hangs
        self.process: subprocess.Popen[str] | None = None
        self._errors = home.with_suffix(".stderr")

    def _start(self) -> subprocess.Popen[str]:
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.parent.mkdir(parents=True, exist_ok=True)
        quiet = {
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_ARENA_MAX": "2",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "MPLCONFIGDIR": f"{self.home}",
        }
        program = f"import sys, campaign.worker as it\n{self.before}\nit.main(*sys.argv[1:])"
        path = os.pathsep.join([f"{ROOT}", f"{ROOT / 'src'}"])
        with self._errors.open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", program, f"{self.specimens}", f"{self.home}"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                env={**os.environ, **quiet, "PYTHONPATH": path},
            )  # fmt: skip
        self.process, self.done = process, 0
        if self._answer(_STARTS) is None:
            raise RuntimeError(f"a worker does not start: {self._errors.read_text()[-2000:]}")
        return process

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        assert self.process is not None
        assert self.process.stdout is not None
        ready: list[Any] = []
        idle, begin = 0.0, _cpu(self.process.pid)
        before = begin
        while not ready and idle < seconds and before - begin < _MOST_CPU:
            ready, _, _ = select.select([self.process.stdout], [], [], 0.5)
            now = _cpu(self.process.pid)
            idle = 0.0 if now > before or _waits_for_cpu(self.process.pid) else idle + 0.5
            before = now
        line = self.process.stdout.readline() if ready else ""
        return json.loads(line) if line.endswith("\n") else None

    def try_case(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of the worker; if there is none, what became of it."""
        process = self.process
        if process is None or self.done >= _CASES:
            self.close()
            process = self._start()
        self.done += 1
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        answer = self._answer(self.hangs)
        if answer is not None:
            return answer
        try:
            process.wait(5)
            hangs = False
        except subprocess.TimeoutExpired:
            hangs = True
        process.kill()
        code = process.wait()
        self._forget()
        if code == 3:
            raise RuntimeError(f"{asked}: {self._errors.read_text(errors='replace')[-3000:]}")
        said = self._errors.read_text(errors="replace").strip().splitlines()
        where = next((line.strip() for line in said if "mentornet" in line), " ".join(said[-1:]))[
            :120
        ]
        return {
            "fault": f"hang {where}" if hangs else f"crash: exit {code} {where}",
            "refused": False,
        }

    def _forget(self) -> None:
        assert self.process is not None
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process = None

    def case(self) -> dict[str, Any]:
        """The last case."""
        return dict(json.loads((self.home / "case.json").read_text()))

    def close(self) -> None:
        """End the worker."""
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
            self._forget()
        shutil.rmtree(self.home, ignore_errors=True)


def turns(names: list[str], ledger: Ledger, most: int) -> Iterator[tuple[str, int]]:
    """The doors in turn, cheap ones more often, each with its next number, up to `most` cases."""
    from campaign.doors import DOORS

    numbers = {name: ledger.drawn(f"files: {name}") for name in names}
    for turn in count():
        if min(numbers.values()) >= most:
            return
        for name in names:
            if turn % DOORS[name].cost == 0 and numbers[name] < most:
                yield name, numbers[name]
                numbers[name] += 1


def try_files(
    ledger: Ledger,
    folder: Path,
    *,
    seconds: float,
    workers: int = 2,
    doors: list[str] | None = None,
    most: int = 10**9,
) -> None:
    """Try changed files at every door until the time is over, or each has had `most` cases."""
    from campaign.doors import DOORS

    names = list(DOORS) if doors is None else doors
    make_specimens(folder / "specimens", names)
    end, cases, lock = time.monotonic() + seconds, turns(names, ledger, most), threading.Lock()

    def work(number: int) -> None:
        hand = Hand(folder / "specimens", folder / f"worker-{os.getpid()}-{number}")
        while time.monotonic() < end:
            with lock:
                turn = next(cases, None)
            if turn is None:
                break
            asked = {"door": turn[0], "number": turn[1], "seed": ledger.seed}
            answer = hand.try_case(asked)
            fault = str(answer["fault"])
            if not fault and not answer.get("reached", True):
                ledger.pass_over(f"files: {turn[0]}")
                continue
            ledger.add(f"files: {turn[0]}", fault, hand.case() if fault else None)
            ledger.took(f"files: {turn[0]}", answer)
        hand.close()

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))  # an error of the campaign itself ends it
    ledger.save()
