"""Choose bf16, channels_last and compilation if they make the student faster on this machine.

Some machines offer a number format and crash when it is used. So each combination is timed for a
few steps in its own process, which may crash. The fastest one is used and written into the run's
config. A short run is not worth the measurement and uses plain float32.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import torch

from mentornet.config import MachineConfig
from mentornet.data import Samples
from mentornet.training.preparation import Prepared

__all__ = ["Trial", "choose_machine", "images_per_second"]

WORTH_A_TRIAL = 20 * 60.0
"""The expected duration of a run in seconds from which on speed is measured first."""

MARGIN = 1.05
"""How much faster than plain float32 a combination must be to be used."""

_ASSUMED = 700  # images of 3 × 32 × 32 that a small student trains on each second with two cores


@dataclass(frozen=True)
class Trial:
    """One way to run a student, and the batches that it is timed on."""

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
    """Return the machine settings with every `auto` replaced, except that of the accelerator.

    Args:
        prepared: what will be trained.
        on_note: called with a note before the measurement, which takes a while.
        tries: whether speed may be measured at all.
    """
    asked = prepared.config.machine
    plain = replace(
        asked,
        precision="32" if asked.precision == "auto" else asked.precision,
        channels_last=_order(asked, prepared.train),
        compile="off" if asked.compile == "auto" else asked.compile,
    )
    if asked == plain or not tries or not _long(prepared):
        return plain
    if on_note is not None:
        on_note("this run will take long, so the fastest settings are measured first")
    speeds = {}
    for way in _ways(asked, plain):
        speed = images_per_second(_trial(prepared, way))
        if speed is not None:
            speeds[way] = speed
    if not speeds:
        return plain
    best = max(speeds, key=lambda way: speeds[way])
    return best if speeds[best] > MARGIN * speeds.get(plain, 0.0) else plain


def _order(asked: MachineConfig, samples: Samples) -> Literal["auto", "on", "off"]:
    """Return whether channels go last, which has no meaning for what is no image."""
    if samples.kind != "images":
        return "off"
    return "on" if asked.channels_last == "auto" else asked.channels_last


def _long(prepared: Prepared) -> bool:
    optimiser, images = prepared.config.optimiser, prepared.train
    if images.kind != "images":
        return False
    pixels = images.shape[1] * images.shape[2]
    if optimiser.steps is not None:
        seen = optimiser.steps * (optimiser.batch_size or 1)
    else:
        seen = len(images) * (optimiser.epochs or 1)
    work = seen * pixels / 32**2
    return work / _ASSUMED > WORTH_A_TRIAL


def _ways(asked: MachineConfig, plain: MachineConfig) -> list[MachineConfig]:
    """List plain float32, then each setting that is `auto`, then all of these compiled."""
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
    """Time `trial` in its own process; None if it crashes, fails or takes too long."""
    command = [sys.executable, "-m", "mentornet.training.speed_trial", json.dumps(asdict(trial))]
    command.append(str(torch.get_num_threads()))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
        return float(done.stdout.split()[-1])
    except (subprocess.SubprocessError, OSError, ValueError, IndexError):
        return None
