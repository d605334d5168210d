"""Runs that are killed at random moments, and go on to the same end, bit for bit."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaign.ledger import Ledger
from campaign.runs import RunCase, compare, draw_run, ended, go_on, start, whole

__all__ = ["kill_runs", "replay_kills"]

_PART, _MOST = "kills", 12  # kills of one run


def kill_runs(ledger: Ledger, folder: Path, seconds: float, most: int = 10**9) -> None:
    """Kill runs until the time is over; each kill is a try."""
    end, number = time.monotonic() + seconds, ledger.starting(_PART)
    while time.monotonic() < end and number < most:
        rng = random.Random(f"{ledger.seed} kills {number}")
        case = draw_run(rng)
        pauses = [rng.random() ** 2 for _ in range(rng.randint(4, _MOST))]
        kills, fault = _try(case, pauses, folder / "kills")
        about = {"run": asdict(case), "pauses": pauses}
        processes = "1 process" if case.processes == 1 else f"{case.processes} processes"
        ledger.add(f"{_PART}: {processes}", fault, about, tries=max(1, kills))
        number += max(1, kills)
    ledger.save()


def _try(case: RunCase, pauses: list[float], home: Path) -> tuple[int, str]:
    """Kill a run after each of the pauses, in shares of its length; then let it end."""
    begin = time.monotonic()
    known = (home / "whole" / case.name).exists()
    whole(case, home)
    length = 1.5 if known else min(4.0, time.monotonic() - begin)
    folder, kills = home / f"killed-{case.name}", 0
    shutil.rmtree(folder, ignore_errors=True)
    for pause in pauses:
        processes = start(case.words(home, folder), home / "killed.log", processes=case.processes)
        time.sleep(pause * length)
        alive = [process for process in processes if process.is_alive()]
        for process in alive:
            process.kill()
        codes = ended(processes)
        kills += bool(alive)
        if not set(codes) <= {0, -9}:
            log = (home / "killed.log").read_text()[-300:]
            return kills, f"ended with {codes} instead of going on: {log}"
        if not alive:
            break
    fault = go_on(case, home, folder) or compare(case, home, folder)
    shutil.rmtree(folder, ignore_errors=True)
    return kills, fault


def replay_kills(case: dict[str, Any], folder: Path) -> str:
    """Kill the same run after the same pauses."""
    return _try(RunCase(**case["run"]), case["pauses"], folder / "kills")[1]
