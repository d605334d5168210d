"""Under which conditions a number was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import numpy
import torch

from mentornet.version import __version__

__all__ = ["conditions"]


def conditions() -> dict[str, str | int]:
    """Versions, commit and machine, for the record beside every result."""
    return {
        "mentornet": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
    }


def _commit() -> str:
    """The commit of the checkout this package is imported from, `+` if it was edited since."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        top = Path(_output([*git, "rev-parse", "--show-toplevel"]))
        if not (top / "src" / "mentornet").is_dir():
            return "unknown"  # installed into somebody else's repository
        head = _output([*git, "rev-parse", "--short=12", "HEAD"])
        changed = _output([*git, "status", "--porcelain", "--", ":/src"])
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
