"""The command line of the campaign."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from campaign.ledger import Ledger
from campaign.parts import PARTS, replay

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign, or replay a failure; return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/campaign"), help="folder")
    parser.add_argument("--minutes", type=float, default=30.0, help="for all parts together")
    parser.add_argument("--seed", type=int, default=0, help="that all cases are drawn from")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts to run"
    )
    parser.add_argument("--replay", type=Path, help="a file of a failure, to be tried again")
    options = parser.parse_args(arguments)
    options.out = options.out.resolve()  # the workers have folders of their own
    if options.replay is not None:
        fault = replay(json.loads(options.replay.read_text()), options.out)
        print(fault or "held")
        return int(bool(fault))
    ledger = Ledger(options.out, options.seed)
    share = sum(PARTS[name].share for name in options.only)
    for name in options.only:
        part, start = PARTS[name], time.monotonic()
        part.run(ledger, options.out, 60 * options.minutes * part.share / share)
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(ledger.table())
    if ledger.failed():
        print(f"\nFailures are in {options.out / 'failures'}:\n{ledger.faults()}")
    return int(ledger.failed() > 0)


if __name__ == "__main__":
    sys.exit(main())
