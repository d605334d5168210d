"""bf16, channels_last and compilation, switched on where they make this student faster here.

Not every machine that offers a number format can use it: some crash on it. So every way is
tried for a few steps in a process of its own, which may die; the fastest is taken, and written
into the run's config. A short run is not worth the trial and keeps plain float32.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from mentornet.config import MachineConfig
from mentornet.training.preparation import Prepared

__all__ = ["Trial", "choose_machine", "images_per_second"]

WORTH_A_TRIAL = 20 * 60.0
"""Seconds that a run must be expected to take before ways to be faster are tried."""

MARGIN = 1.05
"""By how much another way must beat plain float32 to be taken."""

_ASSUMED = 700  # images per second of 3 × 32 × 32 that a small student trains at on two cores


@dataclass(frozen=True)
class Trial:
    """One way to run a student, and on what it is timed."""

    student: str
    sizes: dict[str, Any]
    channels: int
    height: int
    width: int
    classes: int
    batch_size: int
    accelerator: str
    precision: str = "32"
    channels_last: bool = False
    compile: bool = False
    steps: int = 4


def choose_machine(
    prepared: Prepared, on_note: Callable[[str], None] | None = None, *, tries: bool = True
) -> MachineConfig:
    """The machine settings with no `auto` left but the accelerator.

    Args:
        prepared: what will be trained.
        on_note: told if that takes a while.
        tries: whether anything may be tried at all.
    """
    asked = prepared.config.machine
    plain = replace(
        asked,
        precision="32" if asked.precision == "auto" else asked.precision,
        channels_last="on" if asked.channels_last == "auto" else asked.channels_last,
        compile="off" if asked.compile == "auto" else asked.compile,
    )
    if asked == plain or not tries or not _long(prepared):
        return plain
    if on_note is not None:
        on_note("this will take a while: trying what is fastest here")
    speeds = {}
    for way in _ways(asked, plain):
        speed = images_per_second(_trial(prepared, way))
        if speed is not None:
            speeds[way] = speed
    if not speeds:
        return plain
    best = max(speeds, key=lambda way: speeds[way])
    return best if speeds[best] > MARGIN * speeds.get(plain, 0.0) else plain


def _long(prepared: Prepared) -> bool:
    optimiser, images = prepared.config.optimiser, prepared.train
    pixels = images.shape[1] * images.shape[2]
    if optimiser.steps is not None:
        seen = optimiser.steps * (optimiser.batch_size or 1)
    else:
        seen = len(images) * (optimiser.epochs or 1)
    work = seen * pixels / 32**2
    return work / _ASSUMED > WORTH_A_TRIAL


def _ways(asked: MachineConfig, plain: MachineConfig) -> list[MachineConfig]:
    """Plain first, then what was left open: memory order, bf16, and each of these compiled."""
    ways = [plain]
    if asked.channels_last == "auto":
        ways.append(replace(plain, channels_last="off"))
    if asked.precision == "auto":
        ways.append(replace(plain, precision="bf16"))
    if asked.compile == "auto":
        ways += [replace(way, compile="on") for way in ways]
    return ways


def _trial(prepared: Prepared, way: MachineConfig) -> Trial:
    config, images = prepared.config, prepared.train
    channels, height, width = images.shape
    return Trial(
        student=config.student.student or "", sizes=config.student.sizes, channels=channels,
        height=height, width=width, classes=len(images.classes),
        batch_size=(config.optimiser.batch_size or 1) // (config.optimiser.accumulate or 1),
        accelerator=way.accelerator, precision=way.precision,
        channels_last=way.channels_last == "on", compile=way.compile == "on",
    )  # fmt: skip


def images_per_second(trial: Trial, *, timeout: float = 180.0) -> float | None:
    """What `trial` reaches in a process of its own; None if it dies, fails or takes too long."""
    command = [sys.executable, "-m", "mentornet.training.speed_trial", json.dumps(asdict(trial))]
    command.append(str(torch.get_num_threads()))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
        return float(done.stdout.split()[-1])
    except (subprocess.SubprocessError, OSError, ValueError, IndexError):
        return None
