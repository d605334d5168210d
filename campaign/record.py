"""The table of a campaign as a stored result, from which the docs are written.

    python -m campaign.record --seed 26

It writes `results/campaign/seed-26.json`, and the table in `docs/your_files.md`. With `--reverted`
it takes back fixes, and stores which of them were noticed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from campaign.ledger import Ledger
from campaign.reverted import notice
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from tools.generate import replaced

__all__ = ["PAGE", "RESULTS", "markdown", "reverted_markdown"]

RESULTS = Path(__file__).parents[1] / "results" / "campaign"
"""The folder of the stored results."""

PAGE = Path(__file__).parents[1] / "docs" / "your_files.md"
"""The page with the tables."""

_KEPT = ("tries", "failed", "slowest", "largest")


def stored(ledger: Ledger, options: str) -> dict[str, Any]:
    """The counts of a campaign, with its options and conditions."""
    parts = {
        part: {name: count[name] for name in _KEPT if name in count}
        for part, count in ledger.counts.items()
    }
    return {
        "command": f"python -m campaign --seed {ledger.seed} {options}".strip(),
        "seed": ledger.seed,
        "parts": parts,
        "conditions": conditions(),
    }


def markdown(result: dict[str, Any]) -> str:
    """The conditions, and a table with one row for each kind of part."""
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
    return f"{_about(result)}\n\n" + "\n".join(lines)


def _about(result: dict[str, Any]) -> str:
    here = result["conditions"]
    return (
        f"`{result['command']}`, commit {here['commit']}, torch {here['torch']}, "
        f"{here['platform']}, {here['cores']} cores:"
    )


def reverted_markdown(result: dict[str, Any]) -> str:
    """The table of the fixes that were taken back."""
    lines = [
        "| fix that is taken back | door | cases until it is noticed | fault |",
        "|---|---|---|---|",
        *("| {fix} | {door} | {cases} | {kind} |".format(**row) for row in result["fixes"]),
    ]
    return f"{_about(result)}\n\n" + "\n".join(lines)


def _show(name: str, text: str) -> None:
    """Print a table, and write it into the page."""
    PAGE.write_text(replaced(PAGE.read_text(), name, f"\n{text}\n"))
    print(text)


def main() -> int:
    """Store a table; return 1 if something in it failed."""
    parser = argparse.ArgumentParser(prog="python -m campaign.record", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/campaign"), help="folder")
    parser.add_argument("--seed", type=int, default=0, help="of the campaign")
    parser.add_argument("--options", default="", help="further ones that it was started with")
    parser.add_argument("--reverted", action="store_true", help="take back fixes instead")
    options = parser.parse_args()
    if options.reverted:
        fixes = list(notice())
        command = "python -m campaign.record --reverted"
        result: dict[str, Any] = {"command": command, "fixes": fixes, "conditions": conditions()}
        write_json(RESULTS / "reverted.json", result)
        _show("reverted", reverted_markdown(result))
        return int(not all(row["kind"] for row in fixes))
    result = stored(Ledger(options.out, options.seed), options.options)
    write_json(RESULTS / f"seed-{options.seed}.json", result)
    _show("campaign", markdown(result))
    return int(any(count["failed"] for count in result["parts"].values()))


if __name__ == "__main__":
    sys.exit(main())
