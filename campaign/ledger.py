"""What has been tried: the counts of each part, the failures, and the table of both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from threading import Lock
from typing import Any

from mentornet.files import read_json, write_json

__all__ = ["HANGS", "Ledger"]

HANGS = 30.0
"""Seconds after which a worker that does nothing hangs."""


class Ledger:
    """The counts and failures of a campaign, in a folder; a campaign that is stopped continues.

    Args:
        folder: the folder, which is made.
        seed: the seed that cases are drawn from.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed, self._lock = folder, seed, Lock()
        self.path = folder / f"ledger-{seed}.json"
        self.counts: dict[str, dict[str, Any]] = read_json(self.path) if self.path.exists() else {}

    def tries(self, part: str) -> int:
        """How often a part was tried."""
        return int(self.counts.get(part, {}).get("tries", 0))

    def starting(self, word: str) -> int:
        """How often the parts were tried whose names start with a word."""
        return sum(self.tries(part) for part in self.counts if part.startswith(word))

    def failed(self, part: str | None = None) -> int:
        """How many cases failed, of a part or of all."""
        parts = self.counts if part is None else {part: self.counts.get(part, {})}
        return sum(int(count.get("failed", 0)) for count in parts.values())

    def drawn(self, part: str) -> int:
        """How many cases of a part were drawn, with those that did not reach their file."""
        return self.tries(part) + int(self.counts.get(part, {}).get("unreached", 0))

    def pass_over(self, part: str) -> None:
        """Note a case that says nothing, because its changed file was not opened."""
        with self._lock:
            count = self.counts.setdefault(part, {"tries": 0, "failed": 0, "faults": {}})
            count["unreached"] = count.get("unreached", 0) + 1

    def add(
        self, part: str, fault: str, case: dict[str, Any] | None = None, tries: int = 1
    ) -> None:
        """Count a case; if it has a fault, keep the case as a file."""
        with self._lock:
            count = self.counts.setdefault(part, {"tries": 0, "failed": 0, "faults": {}})
            count["tries"] += tries
            if fault:
                count["failed"] += 1
                kind = fault[:160]
                count["faults"][kind] = count["faults"].get(kind, 0) + 1
                if count["faults"][kind] == 1:
                    self._keep(part, fault, case or {})
            if fault or not part.startswith("files") or count["tries"] % 20 < tries:
                write_json(self.path, self.counts)

    def took(self, part: str, answer: dict[str, Any]) -> None:
        """Remember the CPU time of the slowest case of a part, and the memory of the largest."""
        seconds, memory = answer.get("seconds", HANGS), answer.get("memory", 0)
        with self._lock:
            count = self.counts[part]
            count["seconds"] = round(count.get("seconds", 0.0) + seconds, 2)
            count["slowest"] = max(count.get("slowest", 0.0), seconds)
            count["largest"] = max(count.get("largest", 0), memory)

    def save(self) -> None:
        """Write the counts."""
        with self._lock:
            write_json(self.path, self.counts)

    def _keep(self, part: str, fault: str, case: dict[str, Any]) -> None:
        content = {"part": part, "seed": self.seed, "fault": fault, **case}
        digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:8]
        name = "".join(letter if letter.isalnum() else "-" for letter in part)
        write_json(self.folder / "failures" / f"{name}-{digest}.json", content)

    def table(self) -> str:
        """The table of all parts, as Markdown."""
        lines = ["| campaign | tries | held | failed | seed |", "|---|---|---|---|---|"]
        total = [0, 0]
        for part, count in self.counts.items():
            tries, failed = int(count["tries"]), int(count["failed"])
            total = [total[0] + tries, total[1] + failed]
            lines.append(f"| {part} | {tries:,} | {tries - failed:,} | {failed:,} | {self.seed} |")
        tries, failed = total
        lines.append(f"| **all** | {tries:,} | {tries - failed:,} | {failed:,} | {self.seed} |")
        return "\n".join(lines)

    def faults(self) -> str:
        """One line for each kind of fault."""
        lines = [
            f"{part}: {kind} ({times} times)"
            for part, count in self.counts.items()
            for kind, times in count["faults"].items()
        ]
        return "\n".join(lines)
