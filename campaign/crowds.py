"""Several commands on one folder at once: one of them works, the others say so in a line."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from campaign.ledger import Ledger
from campaign.runs import RunCase, compare, draw_run, ended, go_on, server, start
from mentornet.experiments.results import Results
from mentornet.experiments.work import make_job
from tests.experiments.tables import tiny

__all__ = ["replay_crowd", "try_crowds"]


def try_crowds(ledger: Ledger, folder: Path, seconds: float, most: int = 10**9) -> None:
    """Start several runs on one folder until the time is over."""
    end, number = time.monotonic() + seconds, ledger.tries("crowds: train")
    while time.monotonic() < end and number < most:
        rng = random.Random(f"{ledger.seed} crowds {number}")
        pauses = [rng.choice((0.0, rng.random())) for _ in range(rng.choice((2, 3)))]
        about = {"run": asdict(draw_run(rng, processes=1)), "pauses": pauses}
        ledger.add("crowds: train", replay_crowd(about, folder), about)
        number += 1
        if number % 5 == 1:
            both: dict[str, Any] = {"experiment": rng.choice((2, 3))}
            ledger.add("crowds: reproduce", replay_crowd(both, folder), both)
    ledger.save()


def replay_crowd(case: dict[str, Any], folder: Path) -> str:
    """Start several commands on one folder once more."""
    return _experiment(case, folder) if "experiment" in case else _training(case, folder)


def _experiment(case: dict[str, Any], folder: Path) -> str:
    """Make the same job of an experiment several times at once; there is one result."""
    out, alone = folder / "crowds" / "shared", folder / "crowds" / "alone"
    shutil.rmtree(out, ignore_errors=True)
    ended([server().Process(target=make_tiny, args=(f"{alone}",))], start=True)
    shared = [
        server().Process(target=make_tiny, args=(f"{out}",)) for _ in range(case["experiment"])
    ]
    codes = ended(shared, start=True)
    if set(codes) != {0}:
        return f"ended with {codes}"
    Results(out).check()
    (one,), (other,) = (list(Results(place).every()) for place in (alone, out))
    return "" if one["curve"] == other["curve"] else "the results differ"


def make_tiny(folder: str) -> None:
    """Make the first job of a tiny table."""
    torch.set_num_threads(1)
    make_job(tiny().cells[0].run, folder)


def _training(case: dict[str, Any], folder: Path) -> str:
    """Start the run several times; one of them trains, and its end is the right one."""
    run, home = RunCase(**case["run"]), folder / "crowds"
    out = home / f"crowd-{run.name}"
    shutil.rmtree(out, ignore_errors=True)
    words = run.words(home, out)  # before any of them has begun
    processes, logs = [], []
    for number, pause in enumerate(case["pauses"]):
        logs.append(home / f"crowd-{number}.log")
        logs[-1].unlink(missing_ok=True)
        processes += start(words, logs[-1])
        time.sleep(pause)
    codes = ended(processes)
    said = [log.read_text() if log.exists() else "" for log in logs]
    if any("Traceback" in text for text in said) or not set(codes) <= {0, 2}:
        return f"ended with {codes}: {' '.join(said)[-300:]}"
    if codes.count(0) != 1:
        return f"{codes.count(0)} of {len(codes)} have trained: {' '.join(said)[-300:]}"
    return go_on(run, home, out) or compare(run, home, out)
