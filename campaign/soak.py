"""A long run, and files that are read again and again: memory and open files stay flat."""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from campaign.ledger import Ledger
from campaign.readers import make_specimens
from mentornet.training import Observer, train
from tests.training.runs import small

__all__ = ["replay_soak", "soak"]

EPOCHS, READS = 200, 150
_GROWTH = 12 << 20  # bytes that the last third may have more than the second
_READERS = ("labels.npz", "labels.pt", "labels.npy, pickled", "manifest.csv", "manifest.parquet",
            "image folder", "CIFAR-10", "IDX", "shards", "verdicts.csv", "mentor")  # fmt: skip


def _used() -> tuple[int, int]:
    """The resident memory in bytes, and the number of open files."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path("/proc/self/fd").iterdir()))


class _Watching(Observer):
    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def epoch(self, row: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.seen.append(_used())


def _train(method: str, epochs: int, out: str) -> None:
    torch.set_num_threads(1)
    observer = _Watching()
    config = small(method, epochs=epochs, limit=64, width=2, set=())
    train(config, Path(out) / "run", observer=observer)
    Path(out, "seen.json").write_text(json.dumps(observer.seen))


def _read(door: str, times: int, out: str) -> None:
    from campaign.doors import DOORS

    torch.set_num_threads(1)
    place = list(DOORS).index(door)
    seen = []
    for _ in range(times):
        DOORS[door].read(Path(out).parent / "specimens" / f"{place:02d}")
        seen.append(_used())
    Path(out, "seen.json").write_text(json.dumps(seen))


def _grown(seen: list[list[int]]) -> str:
    third = len(seen) // 3
    before, after = (
        [row[which] for row in part]
        for part in (seen[third : 2 * third], seen[-third:])
        for which in (0,)
    )
    growth = statistics.median(after) - statistics.median(before)
    files = max(row[1] for row in seen[-third:]) - max(row[1] for row in seen[third : 2 * third])
    if growth > _GROWTH:
        return f"memory grows by {growth / 2**20:.0f} MB"
    return f"{files} more files are open" if files > 0 else ""


def replay_soak(case: dict[str, Any], folder: Path) -> str:
    """Train or read for long in a process of its own, and say what has grown."""
    import shutil
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    out = Path(tempfile.mkdtemp(prefix="soak-", dir=folder))
    what, words = (
        (_train, (case["method"], case["epochs"]))
        if "method" in case
        else (_read, (case["door"], case["times"]))
    )
    if "door" in case:
        make_specimens(folder / "specimens", [case["door"]])
    process = multiprocessing.get_context("spawn").Process(target=what, args=(*words, f"{out}"))
    process.start()
    process.join()
    fault = f"ended with {process.exitcode}"
    if process.exitcode == 0:
        fault = _grown(json.loads((out / "seen.json").read_text()))
    shutil.rmtree(out)
    return fault


def soak(ledger: Ledger, folder: Path, seconds: float, scale: float = 1.0) -> None:  # noqa: ARG001
    """One run for each of two methods, and every cheap reader; once in a campaign."""
    for method in ("mentornet-pd", "full-model"):
        case = {"method": method, "epochs": int(EPOCHS * scale)}
        if ledger.tries(f"soak: {method}") == 0:
            ledger.add(f"soak: {method}", replay_soak(case, folder), case)
    for door in _READERS[ledger.tries("soak: readers") :]:
        about = {"door": door, "times": int(READS * scale)}
        ledger.add("soak: readers", replay_soak(about, folder), about)
    ledger.save()
