"""Disks that are full or refuse to write: one line, nothing half-written, and then the end."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaign.ledger import Ledger
from campaign.runs import RunCase, compare, draw_run, ended, go_on, start, whole

__all__ = ["replay_disk", "try_disks"]

_KINDS = ("full", "limit", "read-only", "vanished")


def try_disks(ledger: Ledger, folder: Path, seconds: float, most: int = 10**9) -> None:
    """Train on disks with faults until the time is over."""
    end, number = time.monotonic() + seconds, ledger.starting("disk")
    home = folder / "disks"
    while time.monotonic() < end and number < most:
        rng = random.Random(f"{ledger.seed} disks {number}")
        kind, case = rng.choice(_KINDS), draw_run(rng, processes=1)
        kind = "limit" if kind in ("full", "read-only") and not _may_mount() else kind
        about = {
            "run": asdict(case),
            "kind": kind,
            "draw": rng.random(),
        }
        ledger.add(f"disk: {kind}", _try(about, home), about)
        number += 1
    ledger.save()


def _may_mount() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("mount") is not None


@contextmanager
def _small_disk(place: Path, size: int) -> Iterator[None]:
    """A file system in memory with so many bytes."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def _try(about: dict[str, Any], home: Path) -> str:
    case, kind = RunCase(**about["run"]), about["kind"]
    files = [path.stat().st_size for path in whole(case, home).rglob("*") if path.is_file()]
    folder = home / "disk" / case.name
    shutil.rmtree(folder, ignore_errors=True)
    if kind == "limit":
        harm = {"limit": max(200, int(about["draw"] * max(files)))}
        fault = _faulty(case, home, folder, harm)
        return fault or go_on(case, home, folder) or compare(case, home, folder)
    size = max(4, int(about["draw"] * sum(files) / 4096)) if kind == "full" else 16_384
    with _small_disk(home / "disk", 4096 * size) if _may_mount() else nullcontext():
        fault = _faulty(case, home, folder, {}, about)
        if kind == "full":
            subprocess.run(["mount", "-o", "remount,size=64m", home / "disk"], check=True)
        return fault or go_on(case, home, folder) or compare(case, home, folder)


@contextmanager
def _disturbed(about: dict[str, Any], folder: Path) -> Iterator[None]:
    """After a moment the disk becomes read-only, or the folder is gone; later all is as before."""
    time.sleep(3 * about["draw"])
    home, away = folder.parent, folder.with_name(f"{folder.name}-away")
    if about["kind"] == "vanished" and folder.exists():
        folder.rename(away)
    if about["kind"] == "read-only":
        for _ in range(100):  # as long as a file is open for writing, it is refused
            done = subprocess.run(
                ["mount", "-o", "remount,ro", home], capture_output=True, check=False
            )
            if done.returncode == 0:
                break
    yield
    if about["kind"] == "read-only":
        subprocess.run(["mount", "-o", "remount,rw", home], check=True)
    if away.exists():
        shutil.rmtree(folder, ignore_errors=True)  # which the run may have made again
        away.rename(folder)


def _faulty(
    case: RunCase,
    home: Path,
    folder: Path,
    harm: dict[str, Any],
    about: dict[str, Any] | None = None,
) -> str:
    """Run on the faulty disk: it must end with one line, or well."""
    log = home / "faulty.log"
    log.unlink(missing_ok=True)
    started = start(case.words(home, folder), log, fault=harm)
    with _disturbed(about, folder) if about is not None else nullcontext():
        (code,) = ended(started)
    said = log.read_text().strip() if log.exists() else ""
    if code is None:
        return "it hangs"
    if code < 0 or "Traceback" in said:
        return f"ended with {code}: {' | '.join(said.splitlines()[-4:])[-300:]}"
    if code and not said.splitlines()[-1].startswith("mentornet:"):
        return f"the last line is {said.splitlines()[-1]:.200}"
    return ""


def replay_disk(case: dict[str, Any], folder: Path) -> str:
    """Train once more on a disk with the same fault."""
    return _try(case, folder / "disks")
