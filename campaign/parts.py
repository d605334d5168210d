"""The parts of the campaign, and how long each of them takes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign.crowds import replay_crowd, try_crowds
from campaign.disks import replay_disk, try_disks
from campaign.kills import kill_runs, replay_kills
from campaign.ledger import Ledger
from campaign.readers import Hand, make_specimens, try_files
from campaign.soak import replay_soak, soak
from campaign.stored_fields import try_fields

__all__ = ["PARTS", "Part", "replay"]


@dataclass(frozen=True)
class Part:
    """A part of the campaign.

    Attributes:
        run: tries cases for a number of seconds.
        share: of the whole time.
        replay: tries the case of a failure again, and returns its fault.
    """

    run: Callable[[Ledger, Path, float], None]
    share: float
    replay: Callable[[dict[str, Any], Path], str]


def _files(ledger: Ledger, folder: Path, seconds: float) -> None:
    try_files(ledger, folder, seconds=seconds, workers=min(2, len(os.sched_getaffinity(0))))


def _again(case: dict[str, Any], folder: Path) -> str:
    make_specimens(folder / "specimens", [case["door"]])
    hand = Hand(folder / "specimens", folder / "worker-replay")
    fault = str(hand.try_case({"door": case["door"], "node": case["node"]})["fault"])
    hand.close()
    return fault


PARTS: dict[str, Part] = {
    "files": Part(_files, 0.45, _again),
    "fields": Part(try_fields, 0.15, _again),
    "kills": Part(kill_runs, 0.2, replay_kills),
    "disk": Part(try_disks, 0.1, replay_disk),
    "crowds": Part(try_crowds, 0.03, replay_crowd),
    "soak": Part(soak, 0.07, replay_soak),
}
"""The parts, in the order in which they are run."""


def replay(case: dict[str, Any], folder: Path) -> str:
    """Try the case of a failure again; return its fault, or nothing if it holds."""
    return PARTS[case["part"].partition(":")[0]].replay(case, folder)
