"""The table of a campaign as a stored result, from which the docs are written.

    python -m campaign.record --seed 26

It writes `results/campaign/seed-26.json`. With `--reverted` it takes back fixes, and stores which
of them were noticed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from campaign.ledger import Ledger
from campaign.reverted import notice
from mentornet.experiments.conditions import conditions
from mentornet.files import read_json, write_json

__all__ = ["RESULTS", "markdown", "reverted_markdown"]

RESULTS = Path(__file__).parents[1] / "results" / "campaign"
"""The folder of the stored results."""

_KEPT = ("tries", "failed", "slowest", "largest")


def stored(ledger: Ledger) -> dict[str, Any]:
    """The counts of a campaign, with its conditions."""
    parts = {
        part: {name: count[name] for name in _KEPT if name in count}
        for part, count in ledger.counts.items()
    }
    command = f"python -m campaign --seed {ledger.seed}"
    return {
        "command": command, "seed": ledger.seed, "parts": parts, "conditions": conditions()
    }  # fmt: skip


def markdown(result: dict[str, Any]) -> str:
    """The table, with one row for each kind of part."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for part, count in result["parts"].items():
        kinds.setdefault(part.partition(":")[0], []).append(count)
    kinds["**all**"] = list(result["parts"].values())
    lines = [
        "| campaign | tries | held | failed | seed | slowest, s of CPU | largest, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, counts in kinds.items():
        tries, failed = (sum(count[name] for count in counts) for name in ("tries", "failed"))
        slow, large = (max(count.get(name, 0) for count in counts) for name in _KEPT[2:])
        cost = f"{slow:.1f} | {large / 2**20:,.0f}" if large else " | "
        row = f"{kind} | {tries:,} | {tries - failed:,} | {failed:,} | {result['seed']} | {cost}"
        lines.append(f"| {row} |")
    return "\n".join(lines)


def reverted_markdown(result: dict[str, Any]) -> str:
    """The table of the fixes that were taken back."""
    lines = ["| fix that is taken back | door | cases until it is noticed | fault |"]
    lines += ["|---|---|---|---|"]
    for row in result["fixes"]:
        lines.append("| {fix} | {door} | {cases} | {kind} |".format(**row))
    return "\n".join(lines)


def main() -> int:
    """Store a table; return 1 if something in it failed."""
    parser = argparse.ArgumentParser(prog="python -m campaign.record", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/campaign"), help="folder")
    parser.add_argument("--seed", type=int, default=0, help="of the campaign")
    parser.add_argument("--reverted", action="store_true", help="take back fixes instead")
    options = parser.parse_args()
    if options.reverted:
        fixes = list(notice())
        command = "python -m campaign.record --reverted"
        content = {"command": command, "fixes": fixes, "conditions": conditions()}
        write_json(RESULTS / "reverted.json", content)
        print(reverted_markdown(content))
        return int(not all(row["kind"] for row in fixes))
    content = stored(Ledger(options.out, options.seed))
    write_json(RESULTS / f"seed-{options.seed}.json", content)
    print(markdown(read_json(RESULTS / f"seed-{options.seed}.json")))
    return int(any(count["failed"] for count in content["parts"].values()))


if __name__ == "__main__":
    sys.exit(main())
